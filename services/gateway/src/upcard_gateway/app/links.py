"""Links to rounds: whoever has one sees one round as one player does, for ever.

A link names player and round, and is signed: nobody can make one, or turn one into another. It holds no time
and nothing by chance, so a round's link is the same each time it is asked for; while its key is kept it never
ends.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

LONGEST_TOKEN: Final = 400
"""Most characters of a token: what is longer is none."""

_PURPOSE: Final = b"upcard round link 1"
"""Keeps what is signed here apart from whatever else a key may have signed."""

_is_token: Final = re.compile(
    r"1\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{4,220})\.([A-Za-z0-9_-]{43})"
).fullmatch
_is_named: Final = re.compile(r"([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15})").fullmatch


@dataclass(frozen=True, slots=True)
class Linked:
    """What a link shows."""

    player: str
    """Our id of the player."""
    round: str
    """`<table>.<number>`."""


class RoundLinks:
    """Makes tokens of links with one key, and reads those of all."""

    def __init__(self, keys: Mapping[str, bytes], writes_with: str) -> None:
        """`keys` by their ids; raises ValueError if `writes_with` is none of them."""
        if writes_with not in keys:
            raise ValueError(f"there is no key {writes_with!r} for links")
        self._keys = dict(keys)
        self._writes_with = writes_with

    def token(self, linked: Linked) -> str:
        """The token of a link. Raises ValueError for what is no player or no round."""
        named = f"{linked.player}/{linked.round}"
        if not _is_named(named):
            raise ValueError(f"{named!r} is no player and round")
        signed = f"1.{self._writes_with}.{_text(named.encode())}"
        return f"{signed}.{_text(_mac(self._keys[self._writes_with], signed))}"

    def read(self, token: str) -> Linked | None:
        """What a token shows; None: it is none of ours, or its key is gone."""
        parts = _is_token(token) if len(token) <= LONGEST_TOKEN else None
        if parts is None:
            return None
        key_id, payload, _ = parts.groups()
        key = self._keys.get(key_id)
        signed = f"1.{key_id}.{payload}"
        # The whole token is compared, so that of several ways to write the same bytes one alone is right.
        if key is None or not hmac.compare_digest(f"{signed}.{_text(_mac(key, signed))}", token):
            return None
        named = _is_named(_bytes(payload).decode("ascii", "replace"))
        return None if named is None else Linked(named[1], named[2])


def _mac(key: bytes, signed: str) -> bytes:
    return hmac.digest(key, _PURPOSE + b"\n" + signed.encode(), hashlib.sha256)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""
