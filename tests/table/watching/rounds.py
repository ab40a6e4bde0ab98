"""Rounds as a table's owner would have recorded them, private parts and misreads included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from uuid import UUID

from eventstore import Expect, NewEvent
from eventstore.ids import new_event_id
from eventstore.port import Appender
from rules_core.command_line.random_round import random_round
from rules_core.log.content import Content, content_bytes
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import codec_of
from rules_core.round.decide import decide
from rules_core.round.evolve import evolve
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped
from tests.rules_core.test_views_secrecy import Secrets, with_misreads
from upcard_table.app.rounds.live import private_part
from upcard_table.domain import events as t
from upcard_table.domain.config import ChipValues, TableConfig
from upcard_table.domain.words import round_stream, table_stream

TABLE = "t1"
START = "2026-01-01T00:00:00.000000Z"


@dataclass(frozen=True)
class Recorded:
    """An event, what lies beside it, and the command that it came of."""

    event: e.RoundEvent
    command: c.Command
    private: bytes | None = field(repr=False)


@dataclass
class Played:
    """A round from its first event to its last."""

    ruleset: Ruleset
    number: int
    players: tuple[str, ...]
    events: list[Recorded] = field(default_factory=list)
    state: RoundState = field(init=False)
    sealed: Sealed = field(default_factory=Sealed, repr=False)

    def __post_init__(self) -> None:
        self.state = new_round(self.ruleset)

    @property
    def stream(self) -> str:
        """Its stream."""
        return round_stream(TABLE, self.number)

    def last_public(self, last: int | None = None) -> int:
        """Position of the last of the first so many events that everybody is shown at once."""
        among = list(enumerate(self.events[:last], 1))
        return max(position for position, one in among if not hasattr(one.event, "player"))

    def do(self, command: c.Command) -> None:
        """Decide and record."""
        decision = decide(command, self.state, self.sealed)
        assert not isinstance(decision, Refusal), decision
        private = private_part(command) if isinstance(command, c.ScanCard | c.RescanCard) else None
        if isinstance(command, c.ScanCard | c.RescanCard) and command.card is not None and command.card_salt:
            self.sealed.add(command.card, command.card_salt)
        for event in decision:
            self.events.append(Recorded(event, command, private))
            evolve(self.state, event)

    def secrets(self) -> Iterator[tuple[Recorded, Secrets]]:
        """Each event, and what is hidden from whom after it."""
        secrets = Secrets(self.ruleset)
        for recorded in self.events:
            secrets.record(recorded.event, recorded.command)
            yield recorded, secrets


def played(
    ruleset: str,
    seed: int,
    players: int = 3,
    *,
    number: int = 1,
    every: int = 4,
    cancelled_at: int | None = None,
) -> Played:
    """A random round; every so-manieth hidden card is misread first."""
    table = random_round(shipped(ruleset), seed, players)
    made = Played(table.ruleset, number, table.players)
    for index, command in enumerate(with_misreads(table, every)):
        if index == cancelled_at and made.state.step != "settling":
            made.do(c.CancelRound("technical_failure", "staff:s1"))
            break
        given = replace(command, table=TABLE, number=number) if isinstance(command, c.OpenRound) else command
        made.do(given)
    return made


def new_event(stream: str, event: e.RoundEvent | t.TableEvent, private: bytes | None = None) -> NewEvent:
    """An event as it is appended."""
    event_id: UUID = new_event_id()
    name = type(event).__name__
    payload = codec_of(type(event)).encode(event)
    content = Content(str(event_id), name, 1, stream, START, "c1", None, "system", "00" * 16, payload)
    return NewEvent(event_id, name, content_bytes(content), private)


async def append(store: Appender, stream: str, recorded: Sequence[Recorded], after: int = 0) -> int:
    """Store events of a round after a position; the new position."""
    events = [new_event(stream, one.event, one.private) for one in recorded]
    await store.append(stream, events, expected=after or Expect.NONE)
    return after + len(events)


async def append_to_table(store: Appender, *events: t.TableEvent, after: int = 0) -> int:
    """Store events of the table after a position; the new position."""
    stream = table_stream(TABLE)
    await store.append(stream, [new_event(stream, one) for one in events], expected=after or Expect.NONE)
    return after + len(events)


@cache
def config(ruleset: str) -> TableConfig:
    """A table's settings under a ruleset."""
    opened = next(one.event for one in played(ruleset, 1).events if isinstance(one.event, e.RoundOpened))
    chips = ChipValues("EUR", tuple(50 * value for value in (1, 2, 4, 10, 20, 40, 100, 200, 400, 1000)))
    return TableConfig("One", ruleset, opened.limits, (chips,), opened.durations, 1_000)


def opening(ruleset: str) -> tuple[t.TableEvent, ...]:
    """What opens a table under a ruleset."""
    return (t.TableOpened(TABLE, config(ruleset), 1), t.DealerSignedIn("d1"))
