"""Messages as bytes: JSON, and the frame that goes over the wire. Made once, sent to many."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Final

from upcard_platform.models.fields import moment_text

__all__ = ["frame", "message"]

_TEXT: Final = 0x81
"""The first byte of a text message in one frame."""
_SHORT, _MEDIUM = 126, 65_536


def frame(text: bytes) -> bytes:
    """A whole text message of WebSocket's, from a server: not masked, in one frame."""
    size = len(text)
    if size < _SHORT:
        return bytes((_TEXT, size)) + text
    if size < _MEDIUM:
        return bytes((_TEXT, 126)) + size.to_bytes(2, "big") + text
    return bytes((_TEXT, 127)) + size.to_bytes(8, "big") + text


def message(
    type_: str,
    now: dt.datetime,
    body: Mapping[str, Any],
    *,
    round_number: int = 0,
    channel: str = "none",
    seq: str | None = None,
) -> bytes:
    """A message, framed."""
    made: dict[str, Any] = {"type": type_, "channel": channel}
    if seq is not None:
        made["seq"] = seq
    made |= {"round": round_number, "at": moment_text(now), **body}
    return frame(json.dumps(made, ensure_ascii=False, separators=(",", ":"), default=_plain).encode())


def _plain(value: object) -> object:
    """What JSON has no form for: moments as the API writes them, mappings, sequences."""
    if isinstance(value, dt.datetime):
        return moment_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in a message")
