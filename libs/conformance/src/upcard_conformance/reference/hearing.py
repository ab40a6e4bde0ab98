"""What a body says by its template: the reverse of how Upcard writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pydantic import JsonValue

from upcard_seamless.dialects import OF_TRANSACTION, variables_of

Bound: TypeAlias = dict[str, JsonValue]
"""Variables of a dialect and what stood in their places."""

_ITEMS_MAX: Final = 1_000


class BodyUnlike(Exception):
    """A body that does not look like its template; the text says where."""


@dataclass(slots=True)
class _Found:
    call: Bound = field(default_factory=dict)
    one: Bound = field(default_factory=dict)
    """Of the transaction that is being read."""
    transactions: list[Bound] = field(default_factory=list)


def heard(template: JsonValue, body: JsonValue) -> tuple[Bound, list[Bound]]:
    """What stands in the places of variables: of the call, and of each of its transactions.

    Further fields are ignored, as those of a newer version have to be. Raises BodyUnlike.
    """
    found = _Found()
    _hear(template, body, "the body", found)
    if found.one:
        found.transactions.append(found.one)
    return found.call, found.transactions


def _hear(template: JsonValue, body: JsonValue, where: str, found: _Found) -> None:
    if isinstance(template, str) and template.startswith("$"):
        into = found.one if template in OF_TRANSACTION else found.call
        if into.setdefault(template, body) != body:
            raise BodyUnlike(f"{where} contradicts another field")
    elif isinstance(template, dict):
        _hear_object(template, body, where, found)
    elif isinstance(template, list):
        _hear_list(template, body, where, found)
    elif template != body:
        raise BodyUnlike(f"{where} is not {template!r}")


def _hear_object(template: dict[str, JsonValue], body: JsonValue, where: str, found: _Found) -> None:
    if not isinstance(body, dict):
        raise BodyUnlike(f"{where} is no object")
    for name, part in template.items():
        if name not in body:
            raise BodyUnlike(f"{where} lacks {name}")
        _hear(part, body[name], f"{where}, {name}", found)


def _hear_list(template: list[JsonValue], body: JsonValue, where: str, found: _Found) -> None:
    if not isinstance(body, list):
        raise BodyUnlike(f"{where} is no list")
    if len(template) == 1 and variables_of(template) & OF_TRANSACTION:
        if len(body) > _ITEMS_MAX:
            raise BodyUnlike(f"{where} has more than {_ITEMS_MAX} items")
        for item in body:
            inner = _Found(call=found.call)
            _hear(template[0], item, where, inner)
            found.transactions.append(inner.one)
        return
    if len(body) != len(template):
        raise BodyUnlike(f"{where} does not have {len(template)} items")
    for part, item in zip(template, body, strict=True):
        _hear(part, item, where, found)
