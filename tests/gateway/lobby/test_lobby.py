"""Who sees which table, what a table is shown with, and what it costs the services."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest

from rules_core.rulesets.shipped import shipped
from tests.gateway.lobby.tables import JPY, table
from tests.gateway.lobby.test_keeping import Clock
from upcard_gateway.app.lobby import READS_AT_ONCE, House, Lobby, Visitor, Wanted
from upcard_gateway.app.lobby_keeping import NotKnown
from upcard_gateway.app.lobby_tables import Jackpot, NotShown, RoundResult, Seats, SourceAway, TableNow

T = TypeVar("T")
ENDED_AT = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
LIVE = Visitor("live", frozenset({"EUR"}), frozenset({"s1"}))
SANDBOX = Visitor("sandbox", frozenset({"EUR"}), frozenset({"s1"}))


def result(number: int) -> RoundResult:
    return RoundResult(f"t1.{number}", number, "cancelled", "card_dropped", ENDED_AT, None, 0)


@dataclass
class Sources:
    """Services that remember what they were asked."""

    known: list[TableNow] = field(default_factory=list)
    boxes: tuple[int, ...] = (2, 3)
    ended: tuple[RoundResult, ...] = ()
    pools: tuple[Jackpot, ...] = ()
    away: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def tables(self) -> tuple[TableNow, ...]:
        return await self._answer("tables", tuple(self.known))

    async def taken(self, table: TableNow) -> Seats:
        seats = Seats(table.ruleset.boxes, shared=False, taken=self.boxes, players=1)
        return await self._answer("taken", seats)

    async def results(self, table: str) -> tuple[RoundResult, ...]:
        assert table
        return await self._answer("results", self.ended)

    async def jackpots(self) -> tuple[Jackpot, ...]:
        return await self._answer("jackpots", self.pools)

    async def _answer(self, name: str, value: T) -> T:
        self.asked.append(name)
        await asyncio.sleep(0)
        if f"{name} broken" in self.away:
            raise NotShown(name)
        if name in self.away:
            raise SourceAway(name)
        return value


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sources() -> Sources:
    return Sources([table("t1", "classic@1"), table("t2"), table("t3", "classic@1", open=False)])


@pytest.fixture
def lobby(sources: Sources, clock: Clock) -> Lobby:
    house = House(("en",), {"t2": ("pt-BR", "en")}, {"d1": "Ana"})
    return Lobby(sources, house, fresh_s=1.0, stale_max_s=60.0, clock=clock)


async def names(lobby: Lobby, visitor: Visitor, **wanted: object) -> list[str]:
    page = await lobby.page(visitor, Wanted(**wanted))  # type: ignore[arg-type]  # each test names one field
    return [one.now.table for one in page.tables]


async def test_closed_tables_are_shown_to_who_asks_for_them(lobby: Lobby) -> None:
    assert await names(lobby, LIVE) == ["t1", "t2"]
    assert await names(lobby, LIVE, closed_too=True) == ["t1", "t2", "t3"]


async def test_tables_are_found_by_currency_ruleset_and_language(lobby: Lobby) -> None:
    assert await names(lobby, LIVE, currency="JPY") == ["t1", "t2"]
    assert await names(lobby, LIVE, currency="GBP") == []
    assert await names(lobby, LIVE, ruleset="live-shared@1") == ["t2"]
    assert await names(lobby, LIVE, language="pt-BR") == ["t2"]
    assert await names(lobby, LIVE, language="en") == ["t1", "t2"]


async def test_pages_follow_each_other_without_gap_or_repetition(lobby: Lobby, sources: Sources) -> None:
    sources.known = [table(f"t{number:03}") for number in range(95)]
    seen: list[str] = []
    more = True
    while more:
        page = await lobby.page(LIVE, Wanted(after=seen[-1] if seen else "", limit=20))
        seen += [one.now.table for one in page.tables]
        more = page.more
    assert seen == [one.table for one in sources.known]


async def test_sandbox_operators_see_sandbox_tables_and_no_others(lobby: Lobby, sources: Sources) -> None:
    sources.known = [table("s1"), table("t1")]
    assert await names(lobby, SANDBOX) == ["s1"]
    assert await names(lobby, LIVE) == ["t1"]
    assert await lobby.table(SANDBOX, "t1") is None
    assert await lobby.settings_of(LIVE, "s1") is None


async def test_a_table_that_takes_none_of_the_operators_currencies_is_not_there(
    lobby: Lobby, sources: Sources
) -> None:
    sources.known = [table("t1", limits=(JPY,)), table("t2")]
    assert await names(lobby, LIVE) == ["t2"]
    assert await lobby.table(LIVE, "t1") is None


async def test_a_table_is_shown_with_dealer_languages_seats_and_results(
    lobby: Lobby, sources: Sources
) -> None:
    sources.ended = (result(2), result(1))
    page = await lobby.table(LIVE, "t1")
    assert page is not None
    (shown,) = page.tables
    assert (shown.dealer_name, shown.languages) == ("Ana", ("en",))
    assert shown.seats == Seats(6, shared=False, taken=(2, 3), players=1)
    assert shown.seats.free == (1, 4, 5, 6)
    assert shown.results == (result(2), result(1))
    assert not page.stale


async def test_a_shared_table_has_no_seats_that_could_be_taken(lobby: Lobby, sources: Sources) -> None:
    page = await lobby.table(LIVE, "t2")
    assert page is not None
    assert page.tables[0].seats == Seats(3, shared=True, taken=(), players=None)
    assert "taken" not in sources.asked


async def test_between_rounds_all_boxes_are_free_and_nobody_is_asked(lobby: Lobby, sources: Sources) -> None:
    for step in ("settled", "cancelled", "resettling"):
        sources.known = [table("t1", "classic@1", step=step)]
        page = await lobby.table(LIVE, "t1")
        assert page is not None
        assert page.tables[0].now.phase == "waiting"
        assert page.tables[0].seats == Seats(6, shared=False, taken=(), players=0)
    assert "taken" not in sources.asked


async def test_a_table_before_its_first_round_has_no_results(lobby: Lobby, sources: Sources) -> None:
    sources.known = [table("t1", "classic@1", round=0, step="")]
    page = await lobby.table(LIVE, "t1")
    assert page is not None
    assert (page.tables[0].results, page.tables[0].now.phase) == ((), "waiting")
    assert "results" not in sources.asked


async def test_many_visitors_cost_each_service_one_question(lobby: Lobby, sources: Sources) -> None:
    sources.ended = (result(2),)
    await asyncio.gather(*(lobby.page(LIVE, Wanted()) for _ in range(1_000)))
    assert sorted(sources.asked) == ["results", "results", "tables", "taken"]


async def test_seats_are_asked_again_while_bets_are_taken_only(
    lobby: Lobby, sources: Sources, clock: Clock
) -> None:
    sources.ended = (result(2),)
    for step, questions in (("betting", 4), ("options", 5)):
        sources.known = [table("t1", "classic@1", step=step)]
        for _ in range(4):
            clock.at += 1.1
            await lobby.page(LIVE, Wanted())
        assert sources.asked.count("taken") == questions


async def test_results_are_asked_again_until_the_last_round_has_come(
    lobby: Lobby, sources: Sources, clock: Clock
) -> None:
    sources.known = [table("t1", step="settled", round=3)]
    sources.ended = (result(2),)  # the history is a moment behind
    await lobby.page(LIVE, Wanted())
    clock.at += 1.1
    sources.ended = (result(3), result(2))
    page = await lobby.page(LIVE, Wanted())
    assert page.tables[0].results == sources.ended
    for _ in range(20):
        clock.at += 1.1
        await lobby.page(LIVE, Wanted())
    assert sources.asked.count("results") == 2
    clock.at += 30
    await lobby.page(LIVE, Wanted())
    assert sources.asked.count("results") == 3


async def test_without_the_history_tables_are_shown_without_results(lobby: Lobby, sources: Sources) -> None:
    sources.away = {"results"}
    sources.known = [table(f"t{number:03}", "classic@1") for number in range(100)]
    page = await lobby.page(LIVE, Wanted(limit=100))
    assert {one.results for one in page.tables} == {None}
    assert page.stale
    assert page.tables[0].seats is not None
    # No more were asked than go out together: then it was known that it is away.
    assert sources.asked.count("results") == READS_AT_ONCE


async def test_a_table_that_cannot_be_told_of_takes_nothing_from_others(
    lobby: Lobby, sources: Sources
) -> None:
    sources.away = {"taken broken"}
    sources.known = [table(f"t{number:03}", "classic@1") for number in range(40)]
    page = await lobby.page(LIVE, Wanted())
    assert {one.seats for one in page.tables} == {None}
    # Each was asked: that one cannot be told says nothing about the next.
    assert sources.asked.count("taken") == 40
    assert {one.results for one in page.tables} == {()}


async def test_when_the_tables_are_away_what_was_known_is_shown_with_its_age(
    lobby: Lobby, sources: Sources, clock: Clock
) -> None:
    await lobby.page(LIVE, Wanted())
    sources.away = {"tables", "taken"}
    clock.at += 20
    page = await lobby.page(LIVE, Wanted())
    assert (page.age_s, page.stale) == (20, True)
    clock.at += 41
    with pytest.raises(NotKnown):
        await lobby.page(LIVE, Wanted())


async def test_jackpots_are_those_of_the_visitors_tables(lobby: Lobby, sources: Sources) -> None:
    def jackpot(name: str, currency: str, *tables: str) -> Jackpot:
        return Jackpot(name, currency, 5_000, None, 1, None, tables)

    plays = replace(table("t1", "dark-boxes@1"), jackpot="j1")
    sources.known = [plays, replace(plays, table="s1"), replace(plays, table="t2", jackpot="j3")]
    sources.pools = (
        jackpot("j1", "EUR", "s1", "t1"),
        jackpot("j2", "EUR", "t1"),  # the table plays for another one by now
        jackpot("j3", "JPY", "t2"),
        jackpot("j4", "EUR"),
    )
    found = await lobby.jackpots(LIVE)
    assert [(one.jackpot, one.tables) for one in found.value] == [("j1", ("t1",))]
    assert [one.tables for one in (await lobby.jackpots(SANDBOX)).value] == [("s1",)]
    everything = Visitor("live", frozenset({"EUR", "JPY"}))
    assert [one.jackpot for one in (await lobby.jackpots(everything)).value] == ["j1", "j3"]


def test_a_table_says_whether_bets_are_taken() -> None:
    phases = {
        step: table(step=step).phase
        for step in ("new", "betting", "deal", "options", "revealed", "settling", "settled", "cancelled")
    }
    assert phases == {
        "new": "betting",
        "betting": "betting",
        "deal": "playing",
        "options": "playing",
        "revealed": "playing",
        "settling": "playing",
        "settled": "waiting",
        "cancelled": "waiting",
    }
    assert table(open=False).phase == "closed"
    assert table(ruleset="classic@1").ruleset is shipped("classic@1")
