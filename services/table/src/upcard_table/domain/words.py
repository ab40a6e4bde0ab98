"""Forms of ids, as CONTRACTS.md section 2 has them."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from rules_core.log.content import is_opaque_id, round_stream

__all__ = [
    "OPAQUE",
    "SLUG",
    "is_currency",
    "is_opaque_id",
    "is_slug",
    "is_transaction",
    "round_name",
    "round_stream",
    "table_stream",
]

_is_slug = re.compile("[a-z][a-z0-9_]{0,63}").fullmatch
_is_currency = re.compile("[A-Z]{3}").fullmatch
OPAQUE: Final = "an id is 1 to 64 letters, digits, hyphens and underscores"
SLUG: Final = "a slug is 1 to 64 small letters, digits and underscores, a letter first"
_UUID_LENGTH: Final = 36


def is_slug(text: str) -> bool:
    """Whether a text is a slug, as reasons are."""
    return _is_slug(text) is not None


def is_currency(text: str) -> bool:
    """Whether a text has the form of a currency: three capital letters."""
    return _is_currency(text) is not None


def is_transaction(text: str) -> bool:
    """Whether a text is a UUID in its usual form, as the wallet's transactions are."""
    try:
        return len(text) == _UUID_LENGTH and str(UUID(text)) == text
    except ValueError:
        return False


def table_stream(table: str) -> str:
    """The stream of a table's events."""
    return f"table-{table}"


def round_name(table: str, number: int) -> str:
    """A round as the wallet and others name it: its stream without `round-`."""
    return f"{table}.{number}"
