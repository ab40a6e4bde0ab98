"""The round: commands, events, `decide`, `evolve` (RULES.md sections 4 and 7)."""

from __future__ import annotations
