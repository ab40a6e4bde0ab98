"""The number of these rules as a program."""

from __future__ import annotations

from typing import Final

ENGINE: Final = 1
"""Changes whenever this package would decide or pay anything differently.

It is written into every settlement and every opened round, so that a round can be replayed with the very
rules it was played under.
"""
