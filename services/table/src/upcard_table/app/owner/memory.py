"""What the owner of a table knows: the table, its last rounds. Loaded anew when an append fails."""

from __future__ import annotations

from typing import Final

from rules_core.round import commands as c
from rules_core.round.decide.betting import bets_to_repeat
from upcard_table.app.ports import Hints, TableLog
from upcard_table.app.rounds.live import LiveRound, load_round
from upcard_table.domain.events import TableEvent
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import NEW_TABLE, NO_ROUND, LastRound, TableState
from upcard_table.domain.words import round_stream, table_stream

_RUNNING_STEPS: Final = frozenset({"settled", "cancelled", "resettling"})


class Memory:
    """A table and its rounds, as far as they were recorded and, while a batch is stored, as far as that."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.stream = table_stream(table)
        self.state: TableState = NEW_TABLE
        self.position = 0
        """Events of the table's own stream."""
        self.rounds: dict[int, LiveRound] = {}
        """The last round, the one before while its bets can be repeated, those that are being corrected."""
        self.last_number = 0
        self.floor_round: int | None = None
        """The round that waits for the floor."""

    @property
    def last(self) -> LiveRound | None:
        """The last round that was opened, running or over."""
        return self.rounds.get(self.last_number)

    def last_round(self) -> LastRound:
        """The same, in the words of the table's rules."""
        last = self.last
        if last is None or last.state.opened is None:
            return NO_ROUND
        running = last.state.step not in _RUNNING_STEPS
        return LastRound(last.number, running, last.state.opened.deck, last.cancelled)

    def record(self, event: TableEvent) -> int:
        """Fold an event that is going to be the next one of the table's stream; its position."""
        self.state = evolve(self.state, event)
        self.position += 1
        return self.position

    def previous_bets(self, player: str) -> tuple[c.Placement, ...]:
        """What the player had bet in the round before the last one; none where that is not in memory."""
        previous = self.rounds.get(self.last_number - 1)
        return () if previous is None else bets_to_repeat(previous.state, player)

    def forget_rounds(self, keep: set[int]) -> None:
        """Let go of rounds that nobody needs: beside these, the last one, and what can still be repeated."""
        last = self.last
        betting = last is not None and last.state.step == "betting"
        wanted = keep | {self.last_number} | ({self.last_number - 1} if betting else set())
        for number in [number for number in self.rounds if number not in wanted]:
            if self.rounds[number].state.step != "resettling":
                del self.rounds[number]


async def load_memory(log: TableLog, table: str, hints: Hints) -> Memory:
    """What the log says of a table. Raises RoundUnreadable, PayloadError, what the log raises."""
    memory = Memory(table)
    memory.state, memory.position = await log.load_table(table)
    memory.last_number = hints.last_round
    memory.floor_round = hints.floor_round
    wanted = {number for number in (hints.last_round, *hints.unfinished) if number}
    for number in sorted(wanted):
        await load_into(log, memory, number)
    last = memory.last
    if last is not None and last.state.step == "betting" and last.number > 1:
        await load_into(log, memory, last.number - 1)
    return memory


async def load_into(log: TableLog, memory: Memory, number: int) -> LiveRound | None:
    """Load a round of the table; None: it was never opened."""
    stream = round_stream(memory.table, number)
    found = load_round(memory.table, number, await log.load(stream))
    if found is not None:
        memory.rounds[number] = found
    return found
