"""Commitments to face-down cards: made at the deal, checked at the opening (CONTRACTS.md section 2)."""

from __future__ import annotations

import re
from hashlib import sha256

from rules_core.cards import CARD_OF

CARD_SALT_BYTES = 16
_is_card_salt = re.compile("[0-9a-f]{32}").fullmatch


def commitment(card_text: str, card_salt: bytes) -> str:
    """Commit to a card, such as `Ah`: the SHA-256, in hex, of its 16-byte card salt and its two characters.

    Raises ValueError for anything else, since a commitment that nobody could open must never be recorded. The
    message shows neither card nor salt.
    """
    if card_text not in CARD_OF or len(card_salt) != CARD_SALT_BYTES:
        raise ValueError("a commitment needs a card and a card salt of 16 bytes")
    return sha256(card_salt + card_text.encode("ascii")).hexdigest()


def opens(commitment_hex: str, card_text: str, salt_hex: str) -> bool:
    """Tell whether a published card and card salt (32 lower-case hex digits) are what was committed to."""
    if card_text not in CARD_OF or not _is_card_salt(salt_hex):
        return False
    return commitment(card_text, bytes.fromhex(salt_hex)) == commitment_hex
