"""What a batch is going to store: events, answers, notes; and the results that wait for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore import NewEvent, StreamAppend
from eventstore.answers import MAX_ANSWER_BYTES, NewAnswer
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import VERSIONS, payload_of
from rules_core.round.recording import actor_of
from upcard_table.app.calls import Declined, Done, Recorded, Refused, Result
from upcard_table.app.owner.hand import Item, OpenCall
from upcard_table.app.owner.memory import Memory
from upcard_table.app.ports import Batch, Notes, OwnerObserver
from upcard_table.app.recording import Recorder, Traced
from upcard_table.app.rounds.live import LiveRound, private_part
from upcard_table.domain.codec import payload_of as table_payload_of
from upcard_table.domain.codec import version_of
from upcard_table.domain.events import TableClosed, TableEvent, TableOpened

_log = structlog.get_logger("upcard_table")

_SCANS: Final = (c.ScanCard, c.RescanCard)


class AnswerTooLarge(ValueError):
    """A call's answer is larger than one that can be kept: its edge lets too many works into one call."""


@dataclass(frozen=True, slots=True)
class Now:
    """The instant of a batch, as a number and as text."""

    us: int
    text: str


@dataclass(slots=True)
class Draft:
    """Collected while a batch is decided. Memory moves along: a draft that is not stored costs a reload."""

    memory: Memory
    recorder: Recorder
    observer: OwnerObserver
    now: Now
    works: int = 0
    items: list[Item] = field(default_factory=list)
    """The works that got their result in this batch."""
    done: list[OpenCall] = field(default_factory=list)
    """The calls whose last result is among these."""
    answers: list[NewAnswer] = field(default_factory=list)
    round_events: dict[int, list[e.RoundEvent]] = field(default_factory=dict)
    opened: bool | None = None
    opened_round: int | None = None
    serving_token: int | None = None
    floor_round: int | None = None
    unfinished: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    _events: dict[str, list[NewEvent]] = field(default_factory=dict)
    _expected: dict[str, int] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to store."""
        notes = self.serving_token is not None or self.floor_round is not None
        return not (self._events or self.answers or notes)

    @property
    def events(self) -> int:
        """How many events it holds."""
        return sum(map(len, self._events.values()))

    def record_round(
        self,
        live: LiveRound,
        command: c.Command,
        decided: tuple[e.RoundEvent, ...],
        correlation_id: str,
        cause: str | None,
    ) -> tuple[Recorded, ...]:
        """Record what was decided as the next events of a round.

        All contents are made before anything is folded: whatever is raised here has changed nothing.
        """
        step_before, last_id = live.state.step, live.last_event_id
        made: list[NewEvent] = []
        for event in decided:
            made.append(self._round_event(live, command, event, correlation_id, cause or last_id))
            last_id = str(made[-1].event_id)
        if isinstance(command, _SCANS) and made[0].private is not None:
            assert command.card is not None and command.card_salt is not None  # noqa: PT018, S101 - else no private part
            live.sealed.add(command.card, command.card_salt)
        self._expected.setdefault(live.stream, live.position)
        self._events.setdefault(live.stream, []).extend(made)
        recorded = []
        for event, new in zip(decided, made, strict=True):
            position = live.record(event, self.now.us, str(new.event_id), cause)
            recorded.append(Recorded(live.stream, position, event))
        self.round_events.setdefault(live.number, []).extend(decided)
        self._note_correction(live, step_before)
        return tuple(recorded)

    def _round_event(
        self, live: LiveRound, command: c.Command, event: e.RoundEvent, correlation_id: str, cause: str | None
    ) -> NewEvent:
        name = type(event).__name__
        hidden = isinstance(event, e.CardScanned | e.CardRescanned) and event.commitment is not None
        private = private_part(command) if hidden and isinstance(command, _SCANS) else None
        return self.recorder.event(
            live.stream,
            name,
            VERSIONS[name],
            payload_of(event),
            at=self.now.text,
            at_us=self.now.us,
            traced=Traced(actor_of(command, event), correlation_id, cause),
            private=private,
        )

    def _note_correction(self, live: LiveRound, step_before: str) -> None:
        step = live.state.step
        if step == "resettling":
            self.unfinished.add(live.number)
            self.finished.discard(live.number)
        elif live.number in self.unfinished:
            self.unfinished.discard(live.number)  # begun and ended in this batch
        elif step_before == "resettling":
            self.finished.add(live.number)

    def record_table(
        self, decided: tuple[TableEvent, ...], actor: str, correlation_id: str, cause: str | None
    ) -> tuple[Recorded, ...]:
        """Record what was decided as the next events of the table's own stream."""
        memory = self.memory
        made = [
            self.recorder.event(
                memory.stream,
                type(event).__name__,
                version_of(event),
                table_payload_of(event),
                at=self.now.text,
                at_us=self.now.us,
                traced=Traced(actor, correlation_id, cause),
            )
            for event in decided
        ]
        self._expected.setdefault(memory.stream, memory.position)
        self._events.setdefault(memory.stream, []).extend(made)
        for event in decided:
            if isinstance(event, TableOpened | TableClosed):
                self.opened = isinstance(event, TableOpened)
        return tuple([Recorded(memory.stream, memory.record(event), event) for event in decided])

    def resolve(self, item: Item, result: Result) -> None:
        """An item has its result; with the last one its call has its answer."""
        call = item.call
        if call.results[item.index] is not None:
            return
        call.results[item.index] = result
        call.left -= 1
        self.items.append(item)
        if isinstance(result, Refused):
            self.observer.refused(result.refusal.code)
        elif isinstance(result, Declined):
            self.observer.declined(result.event.reason)
        if call.left == 0:
            self._answer(call)

    def _answer(self, call: OpenCall) -> None:
        self.done.append(call)
        slot = call.call.answer
        if slot is None or call.dropped:
            return
        try:
            answer = slot.encode(results_of(call))
        except Exception as error:  # noqa: BLE001 - see below
            # A defect of the edge; what was decided stands, and is known again by its own ids.
            _log.exception("an answer could not be encoded", table=self.memory.table)
            call.fail(error)
            return
        if len(answer) > MAX_ANSWER_BYTES:
            call.fail(AnswerTooLarge(f"the answer to {len(call.results)} works has {len(answer)} bytes"))
            return
        self.answers.append(NewAnswer(slot.key, slot.body_digest, answer))

    def take_back(self) -> list[Item]:
        """Nothing of it was stored: the items are without results again."""
        for item in self.items:
            item.call.results[item.index] = None
            item.call.left += 1
        return self.items

    def batch(self) -> Batch:
        """What is stored."""
        appends = tuple(
            StreamAppend(stream, self._expected[stream], tuple(events))
            for stream, events in self._events.items()
            if events
        )
        notes = Notes(
            self.opened,
            self.opened_round,
            self.serving_token,
            self.floor_round,
            tuple(sorted(self.unfinished)),
            tuple(sorted(self.finished)),
        )
        return Batch(self.memory.table, appends, tuple(self.answers), notes)


def results_of(call: OpenCall) -> list[Result]:
    """All results of a call that has them."""
    return [result for result in call.results if result is not None]


def result_of(live: LiveRound, recorded: tuple[Recorded, ...]) -> Result:
    """What a command's own events say to who asked."""
    first = recorded[0]
    if isinstance(first.event, e.BetDeclined):
        return Declined(first.event, first.position, live.number)
    return Done(recorded, live.number)
