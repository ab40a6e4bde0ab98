"""Keys in settings: several by their ids, of which one is used for what is new."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from pydantic import SecretStr

from eventstore.private import KEY_BYTES

_is_key_id: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


def checked_keys(value: Mapping[str, SecretStr]) -> None:
    """Raise ValueError unless there is a key, and each has 32 bytes in base64 and an id that is opaque."""
    if not value:
        raise ValueError("it has to have a key")
    for key_id, secret in value.items():
        if not _is_key_id(key_id):
            raise ValueError("each id has to have letters, digits, - and _ only")
        raw_key(secret)


def raw_key(secret: SecretStr) -> bytes:
    """The bytes of a key. Raises ValueError, which shows nothing of it."""
    try:
        raw = base64.b64decode(secret.get_secret_value(), validate=True)
    except binascii.Error:
        raise ValueError("each key has to be base64") from None
    if len(raw) != KEY_BYTES:
        raise ValueError(f"each key has to have {KEY_BYTES} bytes")
    return raw
