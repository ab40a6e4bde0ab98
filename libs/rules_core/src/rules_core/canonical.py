"""Canonical JSON (RFC 8785), written and read strictly.

Whatever is hashed, stored or compared as bytes goes through here: events, bundles, rulesets. Of RFC 8785 only
what CONTRACTS.md section 2 allows exists: objects, arrays, strings, booleans, null, and integers within
±(2^53 - 1). Floats do not, so no number ever depends on how a language prints it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

INTEGER_MAX = 2**53 - 1
"""Largest magnitude of an integer: beyond it other JSON readers lose digits."""
DEPTH_MAX = 64
"""Most objects and arrays inside one another; a bundle needs about ten."""

_INTEGER_LETTERS_MAX = len(str(-INTEGER_MAX))
_SHOWN_LETTERS_MAX = 60
_TOO_LARGE = "integer beyond 2^53 - 1"
_TOO_DEEP = f"nested deeper than {DEPTH_MAX} levels"
_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
# The standard library's writer escapes strings exactly as ECMAScript does when it is told to leave
# other characters alone; what it gets wrong (order of some keys, types) is dealt with below.
_write_sorted = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_write_in_order = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


class NotCanonical(ValueError):
    """A Python value that has no canonical JSON; the message says what and where."""


class InvalidJson(ValueError):
    """Bytes that are not JSON, or not the JSON accepted here; the message says what and where."""


def canonical_bytes(value: object) -> bytes:
    """Write the canonical JSON (RFC 8785, UTF-8) of a value made of dict, list, str, int, bool and None.

    Exactly these types: no subclass, tuple or float. Raises NotCanonical for anything else, for integers
    beyond INTEGER_MAX, keys that are not strings, lone surrogates, and nesting deeper than DEPTH_MAX.
    """
    flaw = _flaw_in(value, DEPTH_MAX)
    if flaw is not None:
        raise NotCanonical(str(flaw))
    return _canonical_text(value).encode()


def canonical_bytes_of_parsed(value: object) -> bytes:
    """Write canonical JSON of what a reader below returned, or of a part of it: nothing is left to refuse."""
    return _canonical_text(value).encode()


def parse_strict(data: bytes) -> object:
    """Read JSON text in UTF-8; white space and any order of keys are allowed.

    Raises InvalidJson for what json.loads forgives (duplicate keys, floats, NaN, lone surrogates), and for
    integers beyond INTEGER_MAX, nesting deeper than DEPTH_MAX, a byte order mark, or bytes after the value.
    """
    text = _text_of(data)
    try:
        value: object = _reader.decode(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _unreadable(text, error) from None
    _refuse_flaws(value)
    return value


def parse_canonical(data: bytes) -> object:
    """Read canonical JSON: as parse_strict, and `data` must be exactly the canonical bytes of its value."""
    value = parse_unchecked(data)
    try:
        canonical = canonical_bytes_of_parsed(value)
    except (TypeError, UnicodeEncodeError):  # the writer met a _Flaw, or a lone surrogate
        canonical = b""
    # Duplicate keys, bytes after the value, white space, lone surrogates: none survives being written again.
    if canonical != data:
        parse_strict(data)
        at = _first_difference(canonical, data)
        raise InvalidJson(f"not canonical: differs from the canonical form at byte {at}")
    return value


def parse_unchecked(data: bytes) -> object:
    """Read JSON whose canonical form the caller compares with `data`, which alone makes it safe to use.

    canonical_bytes_of_parsed of the value raises TypeError where that was no JSON of the kind accepted here.
    Raises InvalidJson for what is no JSON text, or nested deeper than DEPTH_MAX.
    """
    text = _text_of(data)
    try:
        value: object = _canonical_reader.raw_decode(text)[0]
    except (json.JSONDecodeError, RecursionError) as error:
        raise _unreadable(text, error) from None
    if _may_be_too_deep(data):
        _refuse_flaws(value)
    return value


@dataclass(frozen=True, slots=True)
class _Flaw:
    """Why a value is refused, and the way to it. The readers put one in the place of what they refuse."""

    what: str
    path: str = ""

    def inside(self, step: str) -> _Flaw:
        return _Flaw(self.what, step + self.path)

    def __str__(self) -> str:
        return f"{self.what} at ${self.path}"


def _canonical_text(value: object) -> str:
    text = _write_sorted(value)
    # RFC 8785 sorts keys by UTF-16 code units, Python by code points. The two orders differ only where a
    # character beyond U+FFFF is compared with one of U+E000..U+FFFF.
    if not text.isascii() and _ASTRAL.search(text):
        return _write_in_order(_in_utf16_order(value))
    return text


def _in_utf16_order(value: object) -> object:
    if type(value) is dict:
        return {key: _in_utf16_order(value[key]) for key in sorted(value, key=_utf16)}
    if type(value) is list:
        return [_in_utf16_order(item) for item in value]
    return value


def _utf16(key: str) -> bytes:
    # Not yet known to be free of lone surrogates where a reader compares: it refuses those by the comparison.
    return key.encode("utf-16-be", "surrogatepass")


def _may_be_too_deep(data: bytes) -> bool:
    """Whether JSON could be nested deeper than DEPTH_MAX; brackets within strings may make it seem so."""
    brackets = data.translate(None, _NOT_BRACKETS)
    # A pass takes away one level or two.
    for _ in range(DEPTH_MAX >> 1):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)


def _refuse_flaws(value: object) -> None:
    flaw = _flaw_in(value, DEPTH_MAX)
    if flaw is not None:
        raise InvalidJson(str(flaw))


def _flaw_in(value: object, levels: int) -> _Flaw | None:
    """Find the first reason why `value` has no canonical JSON of at most `levels` levels, or None."""
    if type(value) is str:
        return None if value.isascii() or not _SURROGATE.search(value) else _Flaw("lone surrogate")
    if type(value) is int:
        return None if -INTEGER_MAX <= value <= INTEGER_MAX else _Flaw(_TOO_LARGE)
    if value is None or type(value) is bool:
        return None
    if type(value) is dict:
        return _flaw_in_object(value, levels - 1) if levels else _Flaw(_TOO_DEEP)
    if type(value) is list:
        return _flaw_in_array(value, levels - 1) if levels else _Flaw(_TOO_DEEP)
    return value if type(value) is _Flaw else _Flaw(f"{type(value).__name__} is no JSON type")


def _flaw_in_object(members: dict[object, object], levels: int) -> _Flaw | None:
    for key, item in members.items():
        if type(key) is not str:
            return _Flaw(f"key of type {type(key).__name__}")
        flaw = _flaw_in(item, levels) or _flaw_in(key, levels)
        if flaw is not None:
            return flaw.inside(f".{key}" if _NAME.fullmatch(key) else f"[{_shown(key)}]")
    return None


def _flaw_in_array(items: list[object], levels: int) -> _Flaw | None:
    for index, item in enumerate(items):
        flaw = _flaw_in(item, levels)
        if flaw is not None:
            return flaw.inside(f"[{index}]")
    return None


def _read_integer(literal: str) -> int | _Flaw:
    # By length first: the standard library refuses to convert thousands of digits, and others take long.
    if len(literal) > _INTEGER_LETTERS_MAX:
        return _Flaw(_TOO_LARGE)
    value = int(literal)
    return value if -INTEGER_MAX <= value <= INTEGER_MAX else _Flaw(_TOO_LARGE)


def _read_other_number(literal: str) -> _Flaw:
    return _Flaw(f"{literal[:_SHOWN_LETTERS_MAX]} is no integer")


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object] | _Flaw:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    times = Counter(key for key, _ in pairs)
    return _Flaw(f"duplicate key {_shown(next(key for key in times if times[key] > 1))}")


def _shown(key: str) -> str:
    return json.dumps(key[:_SHOWN_LETTERS_MAX])


_canonical_reader = json.JSONDecoder(
    parse_int=_read_integer, parse_float=_read_other_number, parse_constant=_read_other_number
)
_reader = json.JSONDecoder(
    parse_int=_read_integer,
    parse_float=_read_other_number,
    parse_constant=_read_other_number,
    object_pairs_hook=_read_object,
)


def _text_of(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidJson(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise InvalidJson("byte order mark at byte 0")
    return text


def _unreadable(text: str, error: json.JSONDecodeError | RecursionError) -> InvalidJson:
    if isinstance(error, RecursionError):
        return InvalidJson(_TOO_DEEP)
    return InvalidJson(f"{error.msg.removesuffix(' at')} at byte {len(text[: error.pos].encode())}")


def _first_difference(left: bytes, right: bytes) -> int:
    pairs = zip(left, right, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))
