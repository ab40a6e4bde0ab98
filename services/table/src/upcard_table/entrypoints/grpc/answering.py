"""From a request to a table's call, and from its results to the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import grpc.aio
from google.protobuf.message import Message

from eventstore.answers import keyed_digest
from servicekit.answering import Answering, Repeatable, body_digest_of, invalid, key_of, serving
from upcard_table.app.calls import AnswerSlot, Result, TableCall, Work
from upcard_table.domain.words import is_opaque_id
from upcard_table.entrypoints.forwarding import Router

MAX_ITEMS: Final = 1_000
"""Most items of one batch."""
_MARGIN_S: Final = 0.1
"""What of the time that is left is kept for the way back; a quarter of it when there is less."""

Context = grpc.aio.ServicerContext[Any, Any]
R = TypeVar("R", bound=Message)
T = TypeVar("T")


class Asked(Repeatable, Protocol):
    """A request that changes something of a table."""

    table: str


@dataclass(frozen=True, slots=True)
class Desk:
    """What all calls stand on."""

    router: Router
    answering: Answering
    scan_key: bytes = field(repr=False)
    """Keys the digests of scans: a plain one of a card could be guessed."""


def deadline() -> float:
    """Until when the call that is served may take, on the event loop's clock; its way back is left out."""
    remaining_s = serving().remaining_s()
    return asyncio.get_running_loop().time() + remaining_s - min(_MARGIN_S, remaining_s / 4)


async def ask_table(  # noqa: PLR0913 - each is another thing
    desk: Desk,
    request: Asked,
    context: Context,
    works: Sequence[Work],
    kind: type[R],
    encode: Callable[[Sequence[Result]], R],
    *,
    secret: bool = False,
) -> R:
    """Have the table's owner do these works, once; the answer, which may be that of an earlier same call.

    `secret`: the body could be guessed from a plain digest. Raises what `Router.handle` raises.
    """
    body = body_digest_of(request)
    if secret:
        body = keyed_digest(desk.scan_key, body)
    slot = AnswerSlot(
        key_of(request), body, lambda results: encode(results).SerializeToString(deterministic=True)
    )
    call = TableCall(table_of(request.table), tuple(works), slot, deadline())
    found = await desk.router.handle(call, context)
    return kind.FromString(found) if isinstance(found, bytes) else encode(found)


def table_of(table: str) -> str:
    """A table's id. Raises CallError for what can be none."""
    if not is_opaque_id(table):
        raise invalid("table: an id is 1 to 64 letters, digits, - and _")
    return table


def number_of(number: int) -> int | None:
    """The round that is meant, None for the one that runs. Raises CallError."""
    if not 0 <= number < 2**53:
        raise invalid("round: a number from 1, or 0 for the round that runs")
    return number or None


def items_of(items: Sequence[T]) -> Sequence[T]:
    """The items of a batch. Raises CallError for none or too many."""
    if not 0 < len(items) <= MAX_ITEMS:
        raise invalid(f"a batch has 1 to {MAX_ITEMS} items")
    return items


def one_of(value: str, values: frozenset[str], name: str) -> str:
    """A word of a request. Raises CallError for one that does not exist."""
    if value not in values:
        raise invalid(f"{name} is one of {', '.join(sorted(values))}")
    return value
