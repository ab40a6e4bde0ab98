"""How the command line writes JSON: keys in the order given, on one line or laid out to be read."""

from __future__ import annotations

import json
from typing import Final, TypeAlias

JsonObject: TypeAlias = dict[str, object]

_WIDTH: Final = 110
_compact = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_spaced = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def compact_line(value: object) -> str:
    """The value on one line without spaces, for programs."""
    return _compact(value) + "\n"


def spaced_line(value: object) -> str:
    """The value on one line, whatever its length."""
    return _spaced(value) + "\n"


def laid_out(value: object) -> str:
    """The value for people: each object or list on a line of its own if it fits, else an item a line."""
    return _laid_out(value, margin="", before=0) + "\n"


def _laid_out(value: object, *, margin: str, before: int) -> str:
    flat = _spaced(value)
    if len(margin) + before + len(flat) < _WIDTH or not value:
        return flat
    inner = margin + "  "
    if isinstance(value, dict):
        keys = [f"{_spaced(key)}: " for key in value]
        items = [
            key + _laid_out(item, margin=inner, before=len(key))
            for key, item in zip(keys, value.values(), strict=True)
        ]
        return f"{{\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}}}"
    if isinstance(value, list):
        items = [_laid_out(item, margin=inner, before=0) for item in value]
        return f"[\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}]"
    return flat
