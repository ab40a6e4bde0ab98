"""Events and their payloads: plain JSON objects, one form only.

A field that has a default is left out when it holds it; every other field is always there. Reading is strict:
a missing, unknown or wrongly typed field names itself. Older versions are brought up to date on reading.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from rules_core.cards import CARD_OF, CARD_TEXTS, Card
from rules_core.round.events import EVENT_TYPES, RoundEvent
from rules_core.round.fast_decoder import FieldForm, fast_decoder

Payload = dict[str, Any]
Upcaster = Callable[[Payload], Payload]


class PayloadError(ValueError):
    """A payload that is not of its event's form; `path` names the field, empty for the payload itself."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message

    def inside(self, outer: str) -> PayloadError:
        """The same error as seen from the field that holds the value."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return PayloadError(f"{outer}{joint}{self.path}", self.message)


_REQUIRED: Final = object()
_Encode = Callable[[Any], Any]
_Decode = Callable[[Any], Any]
_Field = tuple[str, Any, _Encode | None, _Decode, type | None]
"""Name, default, how to write and read it, and the type whose check is all the reading, if one is."""


class _Codec:
    """How one dataclass is written and read."""

    __slots__ = ("_fields", "_make", "decode")

    def __init__(self, kind: type[Any]) -> None:
        hints = get_type_hints(kind)
        self._make = kind
        self._fields = tuple(_field(field, hints[field.name]) for field in dataclasses.fields(kind))
        forms = [
            FieldForm(name, default, plain, _words(hints[name]), decode)
            for name, default, _, decode, plain in self._fields
        ]
        self.decode = fast_decoder(kind, forms, _REQUIRED, self._decode_by_field)

    def encode(self, value: Any) -> Payload:
        payload: Payload = {}
        for name, default, encode, _, _ in self._fields:
            item = getattr(value, name)
            if item == default:
                continue
            payload[name] = item if encode is None else encode(item)
        return payload

    def _decode_by_field(self, payload: Any) -> Any:
        """Read a payload field by field; what is wrong is named by its path."""
        if type(payload) is not dict:
            raise PayloadError("", "an object is needed here")
        values = []
        seen = 0
        name = ""
        try:
            for name, default, _, decode, plain in self._fields:
                item = payload.get(name, _REQUIRED)
                if item is _REQUIRED:
                    if default is _REQUIRED:
                        _refuse_missing()
                    values.append(default)
                    continue
                seen += 1
                values.append(item if type(item) is plain else decode(item))
                if default is not _REQUIRED and values[-1] == default:
                    _refuse_default()
        except PayloadError as error:
            raise error.inside(name) from None
        if seen != len(payload):
            unknown = min(set(payload) - {field[0] for field in self._fields})
            raise PayloadError(unknown, "this field is not known")
        return self._make(*values)


def _refuse_default() -> None:
    raise PayloadError("", "this is the default; the field is left out then")


def _refuse_missing() -> None:
    raise PayloadError("", "this field is missing")


def _field(field: dataclasses.Field[Any], hint: Any) -> _Field:
    default = _REQUIRED if field.default is dataclasses.MISSING else field.default
    encode, decode, plain = _converters(hint)
    return field.name, default, encode, decode, plain


def _words(hint: Any) -> frozenset[str] | None:
    return frozenset(get_args(hint)) if get_origin(hint) is Literal else None


_Converters = tuple[_Encode | None, _Decode, type | None]


def _converters(hint: Any) -> _Converters:
    if hint is Card:
        return CARD_TEXTS.__getitem__, _decode_card, None
    if hint in (str, int, bool):
        return None, _checker(hint), hint
    if get_origin(hint) is Literal:
        return None, _choice(get_args(hint)), None
    if get_origin(hint) in (Union, types.UnionType):
        return _optional(hint)
    if get_origin(hint) is tuple:
        return _sequence(get_args(hint)[0])
    codec = codec_of(hint)
    return codec.encode, codec.decode, None


def _decode_card(value: Any) -> Card:
    card = CARD_OF.get(value) if isinstance(value, str) else None
    if card is None:
        raise PayloadError("", "a card like Ah is needed here")
    return card


def _checker(kind: type) -> _Decode:
    needed = {str: "a text", int: "a whole number", bool: "true or false"}[kind]

    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise PayloadError("", f"{needed} is needed here")
        return value

    return check


def _choice(allowed: tuple[Any, ...]) -> _Decode:
    words = frozenset(allowed)

    def check(value: Any) -> Any:
        if type(value) is not str or value not in words:
            raise PayloadError("", f"one of {', '.join(sorted(words))} is needed here")
        return value

    return check


def _optional(hint: Any) -> _Converters:
    (inner,) = [part for part in get_args(hint) if part is not type(None)]
    encode, decode, plain = _converters(inner)

    def encode_optional(value: Any) -> Any:
        return None if value is None or encode is None else encode(value)

    def decode_optional(value: Any) -> Any:
        return None if value is None else decode(value)

    return (None if encode is None else encode_optional), decode_optional, plain


def _sequence(inner: Any) -> _Converters:
    encode, decode, _ = _converters(inner)

    def encode_all(value: Any) -> Any:
        return list(value) if encode is None else [encode(item) for item in value]

    def decode_all(value: Any) -> Any:
        if type(value) is not list:
            raise PayloadError("", "a list is needed here")
        items: list[Any] = []
        try:
            # What was read before an error stays in `items`: it tells which item failed.
            items.extend(map(decode, value))
        except PayloadError as error:
            raise error.inside(f"[{len(items)}]") from None
        return tuple(items)

    return encode_all, decode_all, None


_CODECS: dict[type[Any], _Codec] = {}


def codec_of(kind: type[Any]) -> _Codec:
    """The one codec of a dataclass."""
    found = _CODECS.get(kind)
    if found is None:
        found = _CODECS[kind] = _Codec(kind)
    return found


_EVENT_CODECS: Final[dict[type[Any], _Codec]] = {kind: codec_of(kind) for kind in EVENT_TYPES}
_EVENT_NAMES: Final[dict[str, type[RoundEvent]]] = {kind.__name__: kind for kind in EVENT_TYPES}

VERSIONS: Final[Mapping[str, int]] = types.MappingProxyType(dict.fromkeys(_EVENT_NAMES, 1))
"""The current version of each event type."""
UPCASTERS: Final[dict[tuple[str, int], Upcaster]] = {}
"""(type, version): what turns that version's payload into the next one's; empty while all are at 1."""


def payload_of(event: RoundEvent) -> Payload:
    """The payload of an event: texts, integers, booleans, null, lists and objects only."""
    return _EVENT_CODECS[type(event)].encode(event)


def event_of(type_name: str, version: int, payload: Payload) -> RoundEvent:
    """The event of a payload, brought up to the current version; PayloadError names what is wrong."""
    kind = _EVENT_NAMES.get(type_name)
    if kind is None:
        raise PayloadError("type", f"{type_name!r} is not a round event")
    current = VERSIONS[type_name]
    if version != current:
        payload = _upcast(type_name, version, current, payload)
    event: RoundEvent = _EVENT_CODECS[kind].decode(payload)
    return event


def _upcast(type_name: str, version: int, current: int, payload: Payload) -> Payload:
    while version != current:
        step = UPCASTERS.get((type_name, version))
        if step is None:
            raise PayloadError("version", f"version {version} of {type_name} is not known here")
        payload = step(payload)
        version += 1
    return payload
