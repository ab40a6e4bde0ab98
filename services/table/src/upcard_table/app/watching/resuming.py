"""Where a session stands, and the token in which its reader carries that to another instance.

A token holds counts alone, and is signed: so that nobody has to think about what a made-up one could do.
What its bearer may see follows from who asks, never from the token.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

_FORM: Final = 1
_MAC_BYTES: Final = 16
_LONGEST_TOKEN: Final = 1_024
ROUNDS_KEPT: Final = 3
"""The latest rounds of a table that are watched. What is corrected later, the history service tells."""


@dataclass(slots=True)
class Mark:
    """How much of a round a session has been sent."""

    shared: int = 0
    """Items that everybody of its audience sees."""
    own: int = 0
    """Items of its player."""


@dataclass(slots=True)
class Cursor:
    """What a session has been sent. Changed in place as it goes on."""

    seq: int = 0
    """Messages."""
    table: int = 0
    """Position in the table's stream."""
    rounds: dict[int, Mark] = field(default_factory=dict)
    """By round; the first is the one that the session began with, or the oldest that is kept."""


class ResumeTokens:
    """Makes and reads tokens; every instance has the same key."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = hmac.new(key, b"upcard resume token v1", sha256)

    def __repr__(self) -> str:
        return "ResumeTokens()"

    def issue(self, session: str, cursor: Cursor) -> str:
        """The token of a session that stands there. `session` says whose it is: table and viewer."""
        rounds = [[number, mark.shared, mark.own] for number, mark in cursor.rounds.items()]
        body = json.dumps([_FORM, cursor.seq, cursor.table, rounds], separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._mac(session, body) + body).decode()

    def read(self, session: str, token: str) -> Cursor | None:
        """Where the session of a token stands; None for one that was not issued for this table and viewer."""
        if len(token) > _LONGEST_TOKEN:
            return None
        try:
            raw = base64.urlsafe_b64decode(token.encode("ascii"))
        except (binascii.Error, ValueError):
            return None
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(session, body)):
            return None
        form, seq, table, rounds = json.loads(body)
        if form != _FORM:
            return None
        return Cursor(seq, table, {number: Mark(shared, own) for number, shared, own in rounds})

    def _mac(self, session: str, body: bytes) -> bytes:
        made = self._key.copy()
        made.update(len(session).to_bytes(4, "big") + session.encode() + body)
        return made.digest()[:_MAC_BYTES]
