"""Figures, compared with sums made one by one from the events."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rules_core.round import events as e
from tests.history.rounds import NOON, Round, history, new_event, random_round, round_content
from tests.history.world import World
from upcard_history.app.figures import Dimension, FigureQuery, FigureQueryInvalid, FigureRow, Period
from upcard_history.domain.table_changes import VERSIONS as TABLE_VERSIONS
from upcard_table.domain.events import EVENT_TYPES as TABLE_EVENTS

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
OPERATORS = {"p1": "op1", "p2": "op2", "p3": "op1"}
RULESETS = {"a": "live-shared@1", "b": "dark-boxes@1", "c": "three-box@1"}


def when(hour: int, minute: int = 0) -> str:
    return f"2026-01-01T{hour:02}:{minute:02}:00.000000Z"


def rounds() -> list[Round]:
    """Three tables, five rounds each, 25 minutes apart; one cancelled, one corrected."""
    made = [
        random_round(
            ruleset, number, table=table, number=number, begins=NOON + number * dt.timedelta(minutes=25)
        )
        for table, ruleset in RULESETS.items()
        for number in range(1, 6)
    ]
    return [*made, history("cancelled-dealer_mistake", "d"), history("scripted-corrected_round", "e")]


async def furnish(world: World) -> None:
    """Accounts, dealers, shifts, tips, a jackpot."""
    for player, operator in OPERATORS.items():
        opened = {"account": player, "player": player, "operator": operator, "currency": "EUR"}
        await world.tell(f"account-{player}", "AccountOpened", when(9), {**opened, "purse": "internal"})
    for table in "abc":
        stream = f"table-{table}"
        await world.tell(stream, "ShiftStarted", when(11), {"shift": f"early-{table}", "after_round": 0})
        await world.tell(stream, "DealerSignedIn", when(11), {"dealer": "d1"})
        await world.tell(stream, "ShiftEnded", when(13), {"shift": f"early-{table}", "after_round": 2})
        await world.tell(stream, "ShiftStarted", when(13), {"shift": "late", "after_round": 2})
        await world.tell(stream, "DealerSignedOut", when(13), {"dealer": "d1"})
        await world.tell(stream, "DealerSignedIn", when(13, 30), {"dealer": "d2"})
        await world.tell(stream, "TipGiven", when(13, 30), {"amount": 7})
    for player, hour, table, amount in (("p1", 12, "a", 50), ("p1", 13, "b", 20), ("p2", 13, "a", 5)):
        tip = {"transaction": world_uuid(hour), "amount": amount, "table": table, "dealer": "d1"}
        await world.tell(f"account-{player}", "TipPosted", when(hour, 1), tip)
    won = {
        "transaction": str(world_uuid(1)),
        "amount": 900,
        "kind": "jackpot",
        "round": "b.2",
        "source": "j1",
    }
    await world.tell("account-p1", "BonusCredited", when(13), won)
    less = {"transaction": world_uuid(2), "amount": -60, "round": "b.2", "source": "j1", "owed": 40}
    await world.tell("account-p1", "JackpotShareCorrected", when(14), less)


def world_uuid(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012}"


@dataclass
class Sum:
    """What a row has to be."""

    settled: int = 0
    cancelled: Counter[str] = field(default_factory=Counter)
    corrected: int = 0
    hours: set[tuple[str, dt.datetime]] = field(default_factory=set)
    declined: Counter[str] = field(default_factory=Counter)
    by_platform: int = 0
    windows: Counter[str] = field(default_factory=Counter)
    money: Counter[tuple[str, str]] = field(default_factory=Counter)


def dealer_of(opened_at: dt.datetime, table: str) -> str | None:
    if table not in RULESETS or NOON + dt.timedelta(hours=1) <= opened_at < NOON + dt.timedelta(minutes=90):
        return None
    return "d1" if opened_at < NOON + dt.timedelta(hours=1) else "d2"


def shift_of(number: int, table: str) -> str | None:
    if table not in RULESETS:
        return None
    return f"early-{table}" if number <= 2 else "late"


def expected(
    all_of_them: list[Round],
    period: Period,
    key_of: Callable[[Round, e.RoundOpened, str], str | None],
    wanted: Callable[[str], bool] = lambda _: True,
) -> dict[tuple[dt.datetime, str | None], Sum]:
    """All sums of rounds; `wanted` chooses players (and then rounds with them)."""
    sums: dict[tuple[dt.datetime, str | None], Sum] = {}
    for one in all_of_them:
        opened = one.events[0]
        assert isinstance(opened, e.RoundOpened)
        end = next((c, x) for c, x in one.facts if isinstance(x, e.RoundSettled | e.RoundCancelled))
        ended_at = dt.datetime.fromisoformat(end[0].recorded_at)
        hour = ended_at.replace(minute=0, second=0, microsecond=0)
        starts_at = hour if period == "hour" else hour.replace(hour=0)
        staking = list(_staking(one))
        keys = {key_of(one, opened, player) for player in staking if wanted(player)}
        for key in keys:
            row = sums.setdefault((starts_at, key), Sum())
            row.hours.add((one.table, hour))
            if isinstance(end[1], e.RoundCancelled):
                row.cancelled[end[1].reason] += 1
            else:
                row.settled += 1
                row.corrected += any(isinstance(x, e.RoundResettled) for x in one.events)
            for kind in _closed(one):
                row.windows[kind] += 1
        latest = {x.player: x for x in one.events if isinstance(x, e.PlayerSettled)}
        for player, result in latest.items():
            if wanted(player):
                money = sums[starts_at, key_of(one, opened, player)].money
                money["players", result.currency] += 1
                money["turnover", result.currency] += result.staked
                money["returned", result.currency] += result.returned
        for event in one.events:
            if isinstance(event, e.BetDeclined) and wanted(event.player):
                key = key_of(one, opened, event.player)
                sums.setdefault((starts_at, key), Sum()).declined[event.reason] += 1
            platform = isinstance(event, e.FinalOptionChosen | e.PurchaseDeclined) and event.by == "platform"
            if platform and wanted(event.player):  # type: ignore[union-attr] # these have a player
                sums[starts_at, key_of(one, opened, event.player)].by_platform += 1  # type: ignore[union-attr] # these have a player
    return sums


def _staking(one: Round) -> Iterator[str]:
    staked: Counter[str] = Counter()
    for event in one.events:
        if isinstance(event, e.BetPlaced):
            staked[event.player] += sum(stake.amount for stake in event.stakes)
        elif isinstance(event, e.BetWithdrawn):
            staked[event.player] -= sum(stake.amount for stake in event.stakes)
    return (player for player, amount in staked.items() if amount)


def _closed(one: Round) -> Iterator[str]:
    names = {
        e.BettingClosed: "betting",
        e.OptionsClosed: "options",
        e.FinalOptionsClosed: "final_options",
        e.PurchaseClosed: "purchase",
    }
    return (names[type(event)] for event in one.events if type(event) in names)


def check(found: tuple[FigureRow, ...], sums: dict[tuple[dt.datetime, str | None], Sum]) -> None:
    """Row by row; rows that only tips made are left out."""
    rows = {(row.starts_at, row.key): row for row in found if row.rounds or row.bets_declined}
    assert rows.keys() == sums.keys()
    assert list(rows) == sorted(rows, key=lambda key: (key[0], key[1] or ""))
    for key, wanted in sums.items():
        row = rows[key]
        assert (row.settled, row.corrected, row.active_hours) == (
            wanted.settled,
            wanted.corrected,
            len(wanted.hours),
        )
        assert (row.cancelled, row.bets_declined) == (dict(wanted.cancelled), dict(wanted.declined))
        assert row.by_platform == wanted.by_platform
        assert {kind: one.windows for kind, one in row.windows.items()} == dict(wanted.windows)
        for money in row.money:
            for name in ("players", "turnover", "returned"):
                assert getattr(money, name) == wanted.money[name, money.currency], (key, name)
            assert money.ggr == money.turnover - money.returned


KEYS: dict[Dimension, Callable[[Round, e.RoundOpened, str], str | None]] = {
    "all": lambda *_: None,
    "table": lambda one, *_: one.table,
    "dealer": lambda one, opened, _: dealer_of(dt.datetime.fromisoformat(opened.opened_at), one.table),
    "shift": lambda one, opened, _: shift_of(opened.number, one.table),
    "ruleset": lambda _, opened, __: opened.ruleset,
    "operator": lambda _, __, player: OPERATORS.get(player),
    "currency": lambda one, _, player: next(
        x.currency for x in one.events if isinstance(x, e.BetPlaced) and x.player == player
    ),
}


@pytest.fixture
async def furnished(world: World) -> World:
    # Rounds first: what they are joined with comes later, from other shards.
    await world.keep(*rounds())
    await furnish(world)
    stake = e.DeclinedStake(2, "ante", 100)
    late = e.BetDeclined("p2", "EUR", "late", (stake,), "betting_closed", when(22), "PlaceBet")
    await world.append("round-a.1", [new_event(round_content("a.1", late, at=when(22)))])
    await world.catch_up(seed=5)
    return world


def query(
    by: Dimension = "all", period: Period = "hour", more: Mapping[str, Any] | None = None
) -> FigureQuery:
    return replace(FigureQuery(period, by, DAY, DAY + dt.timedelta(days=1)), **(more or {}))


async def test_figures_are_the_sums_of_their_events(furnished: World) -> None:
    all_of_them = [await _whole(furnished, one) for one in rounds()]
    for by, key_of in KEYS.items():
        for period in ("hour", "day"):
            found = await furnished.history.figures(query(by, period))
            if by in {"operator", "currency"}:
                found = tuple(row for row in found if row.key is not None or by == "operator")
            check(found, expected(all_of_them, period, key_of))


async def test_a_filter_leaves_the_rest_out(furnished: World) -> None:
    all_of_them = [await _whole(furnished, one) for one in rounds()]
    for name, value in (("table", "b"), ("ruleset", "three-box@1"), ("dealer", "d2"), ("shift", "late")):
        chosen = [
            one
            for one in all_of_them
            if KEYS[name](one, one.events[0], "") == value  # type: ignore[index, arg-type] # these have a player
        ]
        assert chosen
        found = await furnished.history.figures(query("table", more={name: value}))
        check(found, expected(chosen, "hour", KEYS["table"]))
    found = await furnished.history.figures(query("table", more={"operator": "op2"}))
    check(found, expected(all_of_them, "hour", KEYS["table"], lambda player: OPERATORS.get(player) == "op2"))


async def _whole(world: World, one: Round) -> Round:
    contents = [event.content async for event in world.store.iterate_stream(one.stream)]
    return Round(one.name, tuple(contents))


async def test_tips_count_where_and_when_they_were_given(furnished: World) -> None:
    async def tips(by: Dimension, **more: str) -> dict[tuple[int, str | None], int]:
        found = await furnished.history.figures(query(by, more=more))
        return {
            (row.starts_at.hour, row.key): money.tips for row in found for money in row.money if money.tips
        }

    assert await tips("all") == {(12, None): 50, (13, None): 25}
    assert await tips("table") == {(12, "a"): 50, (13, "a"): 5, (13, "b"): 20}
    assert await tips("operator") == {(12, "op1"): 50, (13, "op1"): 20, (13, "op2"): 5}
    assert await tips("dealer") == {(12, "d1"): 50, (13, "d1"): 25}
    assert await tips("shift") == {(12, "early-a"): 50, (13, "late"): 25}
    assert await tips("all", table="b") == {(13, None): 20}
    assert await tips("all", ruleset="three-box@1") == {}


async def test_jackpots_count_with_their_round(furnished: World) -> None:
    found = await furnished.history.figures(query("table", "day"))
    won = {row.key: money.jackpot_won for row in found for money in row.money}
    assert won["b"] == 800, "of 900 it was found that 100 were too much, and 60 of them were still there"
    assert sum(won.values()) == 800


async def test_a_day_begins_where_the_zone_says(furnished: World) -> None:
    zone = "America/Sao_Paulo"
    since = dt.datetime(2026, 1, 1, 3, tzinfo=dt.UTC)
    asked = FigureQuery("day", "all", since, since + dt.timedelta(days=1), zone)
    (row,) = await furnished.history.figures(asked)
    assert row.starts_at == since
    assert row.rounds_an_hour_milli == row.rounds * 1_000 // row.active_hours


@pytest.mark.parametrize(
    ("slug", "asked"),
    [
        ("zone_unknown", FigureQuery("hour", "all", DAY, NOON, "Atlantis")),
        ("period_invalid", FigureQuery("day", "all", DAY, NOON)),
        ("period_invalid", FigureQuery("hour", "all", NOON, DAY)),
        ("period_invalid", FigureQuery("hour", "all", DAY, DAY + dt.timedelta(days=32))),
        ("period_invalid", FigureQuery("hour", "all", DAY.replace(tzinfo=None), NOON.replace(tzinfo=None))),
    ],
)
async def test_what_cannot_be_asked_is_refused(world: World, slug: str, asked: FigureQuery) -> None:
    with pytest.raises(FigureQueryInvalid) as refused:
        await world.history.figures(asked)
    assert refused.value.slug == slug


async def test_a_dealer_who_never_signed_out_is_followed_by_the_next(world: World) -> None:
    await world.tell("table-a", "DealerSignedIn", when(11), {"dealer": "d1"})
    await world.tell("table-a", "DealerSignedIn", when(12, 30), {"dealer": "d2"})
    await world.tell("table-a", "TableClosed", when(13), {"after_round": 2})
    for number in (1, 2, 3):
        at = NOON + number * dt.timedelta(minutes=25)
        await world.keep(random_round("three-box@1", number, table="a", number=number, begins=at))
    await world.catch_up()
    found = await world.history.figures(query("dealer", "day"))
    assert {row.key: row.rounds for row in found} == {"d1": 1, "d2": 1, None: 1}


def test_the_tables_events_are_known_in_their_versions() -> None:
    versions = {name: version for name, (version, _) in TABLE_EVENTS.items()}
    assert TABLE_VERSIONS.items() <= versions.items()
