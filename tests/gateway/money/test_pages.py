"""The money page: figures, plots, open rounds, jackpots; what cannot be read is said."""

from __future__ import annotations

import base64
import datetime as dt
import re

import pytest

from tests.gateway.health.behind import NOW, Behind, a_row, stamp
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World
from upcard.bonus.v1 import bonus_pb2
from upcard.history.v1 import history_pb2 as pb


async def get(staff: SignedIn, path: str) -> str:
    answer = await staff.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def pictures(text: str) -> list[str]:
    """The SVGs on a page."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    return [base64.b64decode(one).decode() for one in found]


async def test_sums_plots_and_tables_are_of_the_same_figures(world: World, behind: Behind) -> None:
    behind.history.rows = [
        a_row(3, turnover=100_000, returned=90_000),
        a_row(1, turnover=200_000, returned=207_000),
    ]
    async with signed_in(world, "auditor") as staff:
        text = await get(staff, "/staff/money")
    assert "3,000.00" in text  # turnover
    assert "30.00" in text  # revenue
    assert "1.00 %" in text
    assert "-70.00" in text  # of the hour in which players won
    found = pictures(text)
    assert len(found) == 4  # two plots, light and dark
    assert all("<script" not in one and "http-equiv" not in one for one in found)
    assert 'style="' not in text


async def test_figures_are_told_apart_by_what_is_asked_for(world: World, behind: Behind) -> None:
    behind.history.rows = [a_row(2, "t1"), a_row(2, "t2", turnover=900_000), a_row(1, "t1")]
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/money?by=table&span=7d&period=hour&operator=acme&table=%20t1")
    (query,) = behind.history.queries
    assert query.by == pb.FIGURE_DIMENSION_TABLE
    assert (query.operator, query.table, query.period) == ("acme", "t1", pb.FIGURE_PERIOD_HOUR)
    assert query.until.ToDatetime(dt.UTC) - query.since.ToDatetime(dt.UTC) == dt.timedelta(days=7)
    # The table with most turnover first, each once.
    keys = re.findall(r"<th scope=\"row\"><code>(t\d)</code>", text)
    assert keys == ["t2", "t1"]
    assert len(pictures(text)) == 6


async def test_a_table_and_an_hour_without_money_stand_there_with_nothing(
    world: World, behind: Behind
) -> None:
    """As a round that was cancelled leaves them."""
    empty = a_row(1, "t2")
    del empty.money[:]
    behind.history.rows = [a_row(2, "t1"), empty]
    async with signed_in(world, "operations") as staff:
        text = await get(staff, "/staff/money?by=table&span=24h")
    assert "<code>t2</code>" in text
    assert "0.00" in text


@pytest.mark.parametrize(
    "asked", ["span=never", "by=player", "period=minute", "currency=XXX", "table=" + "x" * 100, "dealer=%01"]
)
async def test_what_is_no_choice_is_left_out(world: World, behind: Behind, asked: str) -> None:
    async with signed_in(world, "admin") as staff:
        await get(staff, f"/staff/money?{asked}")
    (query,) = behind.history.queries
    assert (query.table, query.dealer, query.by) == ("", "", pb.FIGURE_DIMENSION_UNSPECIFIED)


async def test_a_year_is_by_day_whatever_is_asked_for(world: World, behind: Behind) -> None:
    async with signed_in(world, "admin") as staff:
        await get(staff, "/staff/money?span=365d&period=hour")
    assert behind.history.queries[0].period == pb.FIGURE_PERIOD_DAY
    assert behind.history.queries[0].since.ToDatetime(dt.UTC).hour == 0


async def test_currencies_never_mix(world: World, behind: Behind) -> None:
    row = a_row(1)
    row.money.append(pb.Money(currency="JPY", players=900, turnover=5_000, returned=1_000))
    behind.history.rows = [row]
    async with signed_in(world, "admin") as staff:
        first = await get(staff, "/staff/money")
        assert "5,000</span>" in first  # yen have most players' rounds, and no digits
        assert "4,000</span>" in first
        other = await get(staff, "/staff/money?currency=EUR")
    assert "1,000.00</span>" in other


async def test_too_much_at_once_is_said(world: World, behind: Behind) -> None:
    behind.history.refuses = "too_many_rows"
    async with signed_in(world, "admin") as staff:
        assert "Ask for a shorter time" in await get(staff, "/staff/money")


async def test_open_rounds_jackpots_and_differences_are_shown(world: World, behind: Behind) -> None:
    behind.history.open = [
        pb.TableInPlay(
            round=f"t{number}.9",
            table=f"t{number}",
            opened_at=stamp(NOW),
            window="betting",
            at_stake=[pb.AtStake(currency="EUR", players=2, amount=1_050)],
        )
        for number in range(3)
    ]
    behind.history.replays = [pb.Replay(round="t7.1", outcome=pb.REPLAY_OUTCOME_DISAGREED)]
    behind.bonus.jackpots = [
        bonus_pb2.Jackpot(
            jackpot=f"j{number}",
            operator="house",
            currency="EUR",
            pool=1_234_500 + number,
            settings=bonus_pb2.JackpotSettings(seed=100_000, contribution_ppm=15_000),
        )
        for number in range(5)
    ]
    async with signed_in(world, "auditor") as staff:
        text = await get(staff, "/staff/money")
    assert "31.50" in text  # 3 times 10.50
    assert "3 open rounds" in text
    assert "12,345.04" in text  # the last of three pages
    assert "1.50 %" in text
    for number in range(3):
        assert f'href="/staff/rounds/t{number}.9"' in text
    assert 'href="/staff/rounds/t7.1"' in text


async def test_what_is_away_is_said_where_it_belongs(world: World, behind: Behind) -> None:
    async with signed_in(world, "auditor") as staff:
        assert "metrics are not set up here" in await get(staff, "/staff/money")
        behind.history.away = True
        answer = await staff.client.get("/staff/money")
        assert answer.status_code == 503
