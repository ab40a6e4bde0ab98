"""Digests of a call's body: enough to see that it is the same, and nothing that tells what it was."""

import hashlib
import hmac
from typing import Final

SHORTEST_KEY_BYTES: Final = 16


def digest(body: bytes) -> bytes:
    """SHA-256 of a body that could not be guessed, or that is no secret."""
    return hashlib.sha256(body).digest()


def keyed_digest(key: bytes, body: bytes) -> bytes:
    """HMAC-SHA256 of a body that could be guessed: one of 52 cards, say. The key is kept out of the database.

    With another key the same call looks like one with another body, so a key is not changed for as long as
    answers are kept. Raises ValueError for a key that is too short.
    """
    if len(key) < SHORTEST_KEY_BYTES:
        raise ValueError(f"a key has at least {SHORTEST_KEY_BYTES} bytes")
    return hmac.digest(key, body, "sha256")
