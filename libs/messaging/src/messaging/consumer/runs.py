"""Records of a partition as pages for the applier: checked, and cut where they do not follow each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eventstore import EventFilter, RecordedEvent, category_of
from eventstore.following import Page
from messaging.envelope import EnvelopeInvalid, decode


class Record(Protocol):
    """What is used of a record as aiokafka gives it."""

    @property
    def partition(self) -> int:
        """Its partition."""

    @property
    def offset(self) -> int:
        """Its place in the partition."""

    @property
    def key(self) -> bytes | None:
        """Its key."""

    @property
    def value(self) -> bytes | None:
        """Its value."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """Its headers."""


@dataclass(slots=True)
class _Run:
    """Events that follow each other, of one epoch."""

    epoch: int
    events: list[RecordedEvent] = field(default_factory=list)

    def takes(self, event: RecordedEvent, epoch: int) -> bool:
        return self.epoch == epoch and event.shard_position == self.events[-1].shard_position + 1

    def page(self, wanted: EventFilter) -> Page:
        first, last = self.events[0], self.events[-1]
        events = tuple([one for one in self.events if wanted.matches(category_of(one.stream), one.type)])
        return Page(first.shard, first.shard_position - 1, last.shard_position, events, self.epoch)


def pages_of(
    service: str,
    records: Sequence[Record],
    wanted: EventFilter,
    on_garbage: Callable[[Record, str], None],
) -> Iterator[Page]:
    """The records of one partition as pages, in the order in which they came.

    Each page is of consecutive events and of one epoch; where a record is missing, came twice or is garbage,
    a page ends and the next begins. So a page may begin before the last one's end (published again) or after
    it (a gap): the applier sees to both.
    """
    run: _Run | None = None
    for record in records:
        try:
            found = decode(
                service=service,
                partition=record.partition,
                key=record.key,
                value=record.value,
                headers=record.headers,
            )
        except EnvelopeInvalid as error:
            on_garbage(record, str(error))
            continue
        if run is not None and run.takes(found.event, found.epoch):
            run.events.append(found.event)
            continue
        if run is not None:
            yield run.page(wanted)
        run = _Run(found.epoch, [found.event])
    if run is not None:
        yield run.page(wanted)
