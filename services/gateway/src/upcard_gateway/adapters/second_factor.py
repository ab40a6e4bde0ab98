"""The second factor: codes by time (RFC 6238), as authenticator apps make them."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import io
import secrets
from typing import Final

import pyotp
import segno

__all__ = ["Totp"]

_SECRET_BYTES: Final = 20
_STEP_S: Final = 30
_AROUND: Final = 1
"""Codes of so many steps before and after are taken: clocks differ, and people type."""


class Totp:
    """Codes of six digits, a new one each 30 seconds. `issuer`: what the app names it."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def new_secret(self) -> bytes:
        """A secret that nobody has."""
        return secrets.token_bytes(_SECRET_BYTES)

    def step_of(self, secret: bytes, code: str, at: dt.datetime) -> int | None:
        """The time step, around this moment, that a code is of; None: it is of none. All are compared."""
        codes = pyotp.TOTP(self.text(secret))
        now = int(at.timestamp()) // _STEP_S
        found = None
        for step in range(max(0, now - _AROUND), now + _AROUND + 1):
            if hmac.compare_digest(codes.generate_otp(step).encode(), code.encode("utf-8", "replace")):
                found = step
        return found

    @staticmethod
    def text(secret: bytes) -> str:
        """The secret as people type it into an app."""
        return base64.b32encode(secret).decode().rstrip("=")

    def picture(self, secret: bytes, sign_in_name: str) -> str:
        """The secret as a picture for an app's camera, an SVG as an address of data."""
        uri = pyotp.TOTP(self.text(secret)).provisioning_uri(name=sign_in_name, issuer_name=self._issuer)
        drawn = io.BytesIO()
        segno.make(uri, error="m").save(drawn, kind="svg", scale=5, border=3, light="#fff", dark="#000")
        return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()
