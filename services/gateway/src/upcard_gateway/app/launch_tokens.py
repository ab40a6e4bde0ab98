"""Launch tokens and session tokens: secrets of which the database has the hashes alone.

A launch token follows from its session's id and a key of ours, so a repeated launch can tell it again; it is
stored nowhere. A session token is random: it is told once, to whoever redeems.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["LaunchTokens", "hash_of", "new_session_token"]

_PURPOSE: Final = b"upcard launch token v1\x00"


@dataclass(frozen=True, slots=True)
class LaunchTokens:
    """Makes launch tokens with the keys of the settings."""

    keys: Mapping[str, bytes] = field(repr=False)
    """All keys by their ids."""
    writes_with: str
    """The id of the key for new sessions."""

    def token(self, session: str, key_id: str) -> str | None:
        """The launch token of a session, 43 characters fit for addresses. None: the key is gone."""
        key = self.keys.get(key_id)
        if key is None:
            return None
        return _text(hmac.digest(key, _PURPOSE + session.encode(), "sha256"))

    def new(self, session: str) -> tuple[str, str]:
        """The launch token of a new session, and the id of the key that it was made with."""
        token = self.token(session, self.writes_with)
        if token is None:
            raise ValueError("the key for new sessions is not one of the keys")
        return token, self.writes_with


def new_session_token() -> str:
    """A random session token."""
    return _text(secrets.token_bytes(32))


def hash_of(token: str) -> bytes:
    """What the database has of a token. A plain hash is enough: nobody can guess 256 bits."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
