"""Batches of pages: what goes in one transaction, and its halves."""

from collections.abc import Sequence
from typing import TypeAlias

from eventstore.following.pages import Page

Batch: TypeAlias = tuple[Page, ...]
"""Pages by ascending shard, each shard once."""


def size_of(batch: Batch) -> int:
    """Its number of events."""
    return sum(len(page.events) for page in batch)


def divided(batch: Batch, events: int) -> tuple[Batch, Batch]:
    """The part with the first so many events, and the rest. A page in between is cut."""
    first: list[Page] = []
    for number, page in enumerate(batch):
        if len(page.events) > events:
            if events == 0:
                return tuple(first), batch[number:]
            before, after = page.cut(events)
            return (*first, before), (after, *batch[number + 1 :])
        first.append(page)
        events -= len(page.events)
    return tuple(first), ()


def halves(batch: Batch) -> tuple[Batch, Batch]:
    """Both with about half of the events."""
    return divided(batch, size_of(batch) // 2)


def batches_of(pages: Sequence[Page], batch_max: int) -> list[Batch]:
    """All pages, in batches of at most so many events. Raises ValueError when a shard is named twice."""
    rest: Batch = tuple(sorted(pages, key=lambda page: page.shard))
    if len({page.shard for page in rest}) < len(rest):
        raise ValueError("pages handed in together are of different shards")
    batches: list[Batch] = []
    while rest:
        first, rest = divided(rest, batch_max)
        batches.append(first)
    return batches
