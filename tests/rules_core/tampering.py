"""Changing a bundle one value at a time: by a clumsy hand, or by a forger who makes every hash anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from rules_core.canonical import canonical_bytes
from rules_core.log.chain import first_prev_hash, next_hash
from tests.rules_core.bundles import Json, sealed

Step = str | int
_GONE = object()


def other(value: object) -> list[object]:
    """Give values of the same kind that are not this one; for what holds others, none."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, str):
        return [_other_text(value)]
    return [{}] if value is None else []


def _other_text(text: str) -> str:
    if len(text) == 2:  # a card stays a card, so that nothing but its meaning is wrong
        return "2d" if text == "2c" else "2c"
    if not text:
        return "x"
    last = "1" if text[-1] == "0" else "0" if text[-1].isdigit() else "y" if text[-1] == "x" else "x"
    if set(text) <= set("0123456789abcdef"):
        last = "a" if text[-1] == "b" else "b"
    return text[:-1] + last


def changes(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], object]]:
    """Give every change of one value below `value`: (path, new value), _GONE for taking it away."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in list(inner):
        here = (*path, step)
        for new in other(item):
            yield here, new
        yield here, _GONE
        yield from changes(item, here)


@contextmanager
def changed(value: Json, path: tuple[Step, ...], new: object) -> Iterator[Json]:
    """Hold the object with one change in place; it is as before afterwards."""
    holder: Any = value
    for step in path[:-1]:
        holder = holder[step]
    last: Any = path[-1]
    if isinstance(holder, list) and new is _GONE:
        old = holder.pop(last)
        yield value
        holder.insert(last, old)
        return
    old = holder[last]
    if new is _GONE:
        del holder[last]
    else:
        holder[last] = new
    yield value
    holder[last] = old


def forged(value: Json) -> bytes:
    """Write a bundle's object with its chain and its sha256 made anew, so that only the rules can tell."""
    part = value["round"]
    digest = first_prev_hash(part["stream"])
    for position, item in enumerate(part["events"], 1):
        content = item.get("content")
        inner = bytes.fromhex(item["content_hash"]) if content is None else digest_of(content)
        digest = next_hash(digest, position, inner)
    part["hash"] = digest.hex()
    return sealed(value)


def digest_of(content: Json) -> bytes:
    """The hash of an event's content."""
    return sha256(canonical_bytes(content)).digest()
