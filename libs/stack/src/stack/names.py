"""Names that nothing has yet."""

from __future__ import annotations

import secrets


def fresh_name(prefix: str) -> str:
    """A name that no database or topic has yet."""
    return f"{prefix}_{secrets.token_hex(6)}"
