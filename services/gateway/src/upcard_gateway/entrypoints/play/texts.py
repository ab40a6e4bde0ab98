"""What a connection says to people, from `pages/english/play_connection.json`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

__all__ = ["RESUMABLE", "ended_text", "error_text"]

_TEXTS: Final[dict[str, dict[str, str]]] = json.loads(
    (files("upcard_gateway.pages") / "english" / "play_connection.json").read_text("utf-8")
)
RESUMABLE: Final = frozenset(
    {
        "gateway_away",
        "internal",
        "overloaded",
        "server_stopping",
        "silent",
        "table_away",
        "too_fast",
        "too_slow",
    }
)
"""Reasons of an end after which it is worth connecting again, with `resume`."""


def ended_text(reason: str) -> str:
    """Why a connection ended, for its person."""
    return _TEXTS["ended"][reason]


def error_text(code: str, **values: str) -> str:
    """Why nothing was done, for its person."""
    return _TEXTS["error"][code].format(**values)


def ended_reasons() -> frozenset[str]:
    """All reasons for which a connection may end."""
    return frozenset(_TEXTS["ended"])
