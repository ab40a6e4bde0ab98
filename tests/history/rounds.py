"""Rounds to feed: the committed histories and random ones, each at a table and time of its own."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from eventstore import NewEvent
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.log.bundle import Recorded
from rules_core.log.bundle_reading import parse_bundle
from rules_core.log.content import Content, content_bytes, parse_content, round_stream
from rules_core.round.codec import VERSIONS, event_of, payload_of
from rules_core.round.events import RoundEvent
from rules_core.round.times import to_epoch_us
from rules_core.rulesets.shipped import shipped, shipped_ids

HISTORIES = Path(__file__).parents[1] / "golden" / "histories"
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Round:
    """A round's recorded contents."""

    name: str
    contents: tuple[bytes, ...]

    @property
    def stream(self) -> str:
        return f"round-{self.name}"

    @property
    def table(self) -> str:
        return self.name.rpartition(".")[0]

    @cached_property
    def facts(self) -> list[tuple[Content, RoundEvent]]:
        """Contents and events."""
        parsed = [parse_content(data) for data in self.contents]
        return [(one, event_of(one.type, one.version, one.payload)) for one in parsed]

    @property
    def events(self) -> list[RoundEvent]:
        return [event for _, event in self.facts]

    @property
    def players(self) -> set[str]:
        """Everybody who is named in it."""
        return {event.player for event in self.events if hasattr(event, "player")}

    def new_events(self) -> list[NewEvent]:
        """To be appended."""
        return [new_event(data) for data in self.contents]

    def cut(self, events: int) -> Round:
        """Its first events."""
        return replace(self, contents=self.contents[:events])


def new_event(data: bytes) -> NewEvent:
    """A recorded content, to be appended."""
    content = parse_content(data)
    return NewEvent(uuid_of(content.event_id), content.type, data)


def uuid_of(text: str) -> uuid.UUID:
    """Of its text."""
    return uuid.UUID(text)


def history_names() -> list[str]:
    """Of the committed histories."""
    return sorted(path.stem for path in HISTORIES.glob("*.json"))


@cache
def history(name: str, table: str | None = None) -> Round:
    """A committed history, as it is, or at another table: with events of its own then."""
    bundle, problems = parse_bundle((HISTORIES / f"{name}.json").read_bytes())
    assert bundle is not None
    assert not problems
    contents = [event.data for event in bundle.round.events if isinstance(event, Recorded)]
    if table is None:
        return Round(bundle.round.stream.removeprefix("round-"), tuple(contents))
    number = int(bundle.round.stream.rpartition(".")[2])
    return Round(f"{table}.{number}", tuple(_moved(contents, table, number)))


def _moved(contents: Sequence[bytes], table: str, number: int) -> Iterator[bytes]:
    dice = Dice(next(_numbers))
    for data in contents:
        content = parse_content(data)
        payload = content.payload
        if content.type == "RoundOpened":
            payload = {**payload, "table": table}
        yield content_bytes(
            replace(
                content,
                event_id=dice.uuid7(to_epoch_us(content.recorded_at)),
                stream=round_stream(table, number),
                payload=payload,
            )
        )


class _Table(RandomTable):
    def __init__(
        self, ruleset: str, seed: int, players: tuple[str, ...], where: tuple[str, int, int]
    ) -> None:
        # No two rounds share an id, whatever their seeds.
        digest = sha256(f"{ruleset} {seed} {where}".encode()).digest()
        super().__init__(shipped(ruleset), Dice(int.from_bytes(digest[:6])), players, where[1])
        self.table = where[0]
        self.stream = round_stream(self.table, self.number)
        self._clock_us = where[2]


@cache
def random_round(
    ruleset: str,
    seed: int,
    *,
    players: int = 3,
    table: str = "t1",
    number: int = 1,
    begins: dt.datetime = NOON,
) -> Round:
    """A random round; the same arguments give the same bytes."""
    names = tuple(f"p{one}" for one in range(1, players + 1))
    where = (table, number, int(begins.timestamp()) * 1_000_000)
    dealt = _Table(ruleset, seed, names, where)
    dealt.play()
    return Round(f"{table}.{number}", tuple(dealt.contents))


def casino(rounds: int, *, seed: int = 1) -> list[Round]:
    """Rounds of all rulesets at a table each, a quarter of an hour apart, and all committed histories."""
    made = [
        random_round(
            ruleset,
            seed * 1_000 + number,
            players=3,
            table=f"table-{ruleset.partition('@')[0]}",
            number=number,
            begins=NOON + number * dt.timedelta(minutes=15),
        )
        for ruleset in shipped_ids()
        for number in range(1, rounds + 1)
    ]
    return made + [history(name, f"g{place}") for place, name in enumerate(history_names())]


def round_content(name: str, event: RoundEvent, *, seed: int = 0, at: str | None = None) -> bytes:
    """One more event of a round."""
    kind = type(event).__name__
    when = at or "2026-01-01T23:00:00.000000Z"
    dice = Dice(1_000_000 + seed + next(_numbers))
    content = Content(
        dice.uuid7(to_epoch_us(when)),
        kind,
        VERSIONS[kind],
        f"round-{name}",
        when,
        "more",
        None,
        "system",
        dice.hex(32),
        payload_of(event),
    )
    return content_bytes(content)
