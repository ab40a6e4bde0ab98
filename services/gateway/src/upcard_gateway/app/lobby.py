"""The lobby: which tables an operator's players may come to, and how these stand now.

However many ask, a service is read once for all: tables and jackpots once a second at most, the seats of a
table that takes bets likewise, its results when a round has ended. Nobody waits for long for what a service
does not tell.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from upcard_gateway.app.lobby_keeping import Aged, Clock, Kept, KeptByKey, NotKnown, Times
from upcard_gateway.app.lobby_tables import (
    Jackpot,
    LeftAlone,
    LobbySources,
    NotShown,
    RoundResult,
    Seats,
    SourceAway,
    TableNow,
)
from upcard_gateway.domain.operators import Environment

READS_AT_ONCE: Final = 16
"""Most questions about single tables at a time, to each service."""
TABLES_KEPT: Final = 5_000
"""Tables whose seats and results are kept; those that were asked for longest ago go first."""
SETTLED_FRESH_S: Final = 30.0
"""For so long results stay fresh after the last round's has come: later corrections show up then."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Visitor:
    """For whom the lobby is."""

    environment: Environment
    currencies: frozenset[str] | None
    """Those of the operator: a table that takes none of them is not shown. None: any will do."""
    sandbox_tables: frozenset[str] = frozenset()

    def sees(self, table: TableNow) -> bool:
        """Whether the operator's players may come to the table."""
        return sees(self.environment, self.sandbox_tables, table.table) and any(
            self.takes(limits.currency) for limits in table.limits
        )

    def takes(self, currency: str) -> bool:
        """Whether the visitor plays in a currency."""
        return self.currencies is None or currency in self.currencies


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables are asked for."""

    after: str = ""
    limit: int = 50
    closed_too: bool = False
    currency: str | None = None
    ruleset: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table, with what could be found out about it."""

    now: TableNow
    languages: tuple[str, ...]
    dealer_name: str | None
    seats: Seats | None
    """None: it is not known now."""
    results: tuple[RoundResult, ...] | None
    """None: they are not known now."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some tables."""

    tables: tuple[TableShown, ...]
    more: bool
    age_s: float
    """Of the list of tables."""
    stale: bool
    """Whether a part is older than it should be."""


@dataclass(frozen=True, slots=True)
class House:
    """What the house's settings say of tables and dealers."""

    languages: tuple[str, ...] = ("en",)
    table_languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dealer_names: Mapping[str, str] = field(default_factory=dict)

    def languages_of(self, table: str) -> tuple[str, ...]:
        """The languages that are spoken at a table."""
        return self.table_languages.get(table, self.languages)


def sees(environment: Environment, sandbox_tables: frozenset[str], table: str) -> bool:
    """Whether players of such an operator may come to a table: sandbox tables are for the sandbox alone."""
    return (environment == "sandbox") == (table in sandbox_tables)


class Lobby:
    """The lobby of one process. Its methods raise NotKnown where nothing young enough is known."""

    def __init__(
        self,
        sources: LobbySources,
        house: House,
        *,
        fresh_s: float,
        stale_max_s: float,
        clock: Clock = time.monotonic,
    ) -> None:
        """`fresh_s`: for so long nothing is read again; `stale_max_s`: what is older is not shown."""
        times = Times(fresh_s=fresh_s, patience_s=0.3, longest_s=3.0, stale_s=stale_max_s)
        of_one = Times(fresh_s=fresh_s, patience_s=0.3, longest_s=1.0, stale_s=stale_max_s)
        self._sources = sources
        self._house = house
        self._fresh_s = fresh_s
        self._clock = clock
        self._tables: Kept[tuple[TableNow, ...]] = Kept(sources.tables, times, clock)
        self._jackpots: Kept[tuple[Jackpot, ...]] = Kept(sources.jackpots, times, clock)
        self._seats: KeptByKey[str, Seats] = KeptByKey(of_one, most=TABLES_KEPT, clock=clock)
        self._results: KeptByKey[str, tuple[RoundResult, ...]] = KeptByKey(
            of_one, most=TABLES_KEPT, clock=clock
        )
        self._table_calls = _Turns(clock, fresh_s)
        self._history_calls = _Turns(clock, fresh_s)

    async def page(self, visitor: Visitor, wanted: Wanted) -> Page:
        """Tables by id, from behind `after` on."""
        listed = await self._tables.get()
        found = [one for one in listed.value if visitor.sees(one) and self._is_wanted(one, wanted)]
        shown = [one for one in found if one.table > wanted.after][: wanted.limit + 1]
        return await self._shown(shown[: wanted.limit], listed, more=len(shown) > wanted.limit)

    async def table(self, visitor: Visitor, table: str) -> Page | None:
        """One table, closed or not; None: there is none that this visitor sees."""
        listed = await self._tables.get()
        found = [one for one in listed.value if one.table == table and visitor.sees(one)]
        return await self._shown(found, listed, more=False) if found else None

    async def settings_of(self, visitor: Visitor, table: str) -> TableNow | None:
        """A table as its boards show it; None: there is none that this visitor sees."""
        listed = await self._tables.get()
        return next((one for one in listed.value if one.table == table and visitor.sees(one)), None)

    async def jackpots(self, visitor: Visitor) -> Aged[tuple[Jackpot, ...]]:
        """The jackpots that tables of this visitor's play for, by id, with these tables."""
        listed, known = await self._tables.get(), await self._jackpots.get()
        visible = {one.table for one in listed.value if visitor.sees(one)}
        playing = {(one.jackpot, one.table) for one in listed.value if one.table in visible}
        found: list[Jackpot] = []
        for jackpot in known.value:
            tables = tuple(one for one in jackpot.tables if (jackpot.jackpot, one) in playing)
            if tables and visitor.takes(jackpot.currency):
                found.append(
                    Jackpot(
                        jackpot.jackpot,
                        jackpot.currency,
                        jackpot.pool,
                        jackpot.must_hit_by,
                        jackpot.cycle,
                        jackpot.commitment,
                        tables,
                    )
                )
        return Aged(tuple(found), max(listed.age_s, known.age_s), listed.stale or known.stale)

    def _is_wanted(self, table: TableNow, wanted: Wanted) -> bool:
        return (
            (table.open or wanted.closed_too)
            and (wanted.currency is None or any(one.currency == wanted.currency for one in table.limits))
            and (wanted.ruleset is None or table.ruleset.id == wanted.ruleset)
            and (wanted.language is None or wanted.language in self._house.languages_of(table.table))
        )

    async def _shown(self, tables: list[TableNow], listed: Aged[tuple[TableNow, ...]], *, more: bool) -> Page:
        seats, results = await asyncio.gather(
            asyncio.gather(*(_or_none(self._seats_of(one)) for one in tables)),
            asyncio.gather(*(_or_none(self._results_of(one)) for one in tables)),
        )
        shown = tuple(
            TableShown(
                now=one,
                languages=self._house.languages_of(one.table),
                dealer_name=None if one.dealer is None else self._house.dealer_names.get(one.dealer),
                seats=None if its_seats is None else its_seats.value,
                results=None if its_results is None else its_results.value,
            )
            for one, its_seats, its_results in zip(tables, seats, results, strict=True)
        )
        stale = listed.stale or any(part is None or part.stale for part in (*seats, *results))
        return Page(shown, more, listed.age_s, stale)

    async def _seats_of(self, table: TableNow) -> Aged[Seats]:
        boxes = table.ruleset.boxes
        if table.ruleset.shared:
            return Aged(Seats(boxes, shared=True, taken=(), players=None), 0.0, stale=False)
        if table.phase in ("closed", "waiting"):
            return Aged(Seats(boxes, shared=False, taken=(), players=0), 0.0, stale=False)

        async def read() -> Seats:
            return await self._table_calls.asked(lambda: self._sources.taken(table))

        kept = self._seats.of(table.table, (table.round, table.step), read)
        # Boxes are taken and freed while bets are; what was read in a later step stays so.
        return await kept.get(fresh_s=self._fresh_s if table.phase == "betting" else SETTLED_FRESH_S)

    async def _results_of(self, table: TableNow) -> Aged[tuple[RoundResult, ...]]:
        if not table.ended_round:
            return Aged((), 0.0, stale=False)

        async def read() -> tuple[RoundResult, ...]:
            return await self._history_calls.asked(lambda: self._sources.results(table.table))

        kept = self._results.of(table.table, None, read)
        known = kept.known
        complete = known is not None and bool(known) and known[0].number >= table.ended_round
        return await kept.get(fresh_s=SETTLED_FRESH_S if complete else self._fresh_s)


class _Turns:
    """So many questions to one service at a time; after one that was not answered none for a moment."""

    def __init__(self, clock: Clock, pause_s: float) -> None:
        self._clock = clock
        self._pause_s = pause_s
        self._free = asyncio.Semaphore(READS_AT_ONCE)
        self._away_until = 0.0

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        async with self._free:
            if self._clock() < self._away_until:
                raise LeftAlone
            try:
                return await ask()
            except NotShown:
                raise
            except SourceAway:
                self._away_until = self._clock() + self._pause_s
                raise


async def _or_none(value: Awaitable[Aged[T]]) -> Aged[T] | None:
    try:
        return await value
    except NotKnown:
        return None
