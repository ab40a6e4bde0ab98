"""The lobby over real processes: seats while bets are taken, results when a round has ended, a free bet."""

from __future__ import annotations

import datetime as dt
from random import Random

import pytest

from servicekit.grpc import acting_as
from tests.end_to_end.gateway.processes import CALL_S, CURRENCY, TRANSFER, Edge, fresh, until
from upcard.table.v1 import table_pb2
from upcard_operate.demo.casino import PLATFORM
from upcard_operate.demo.house import House, View
from upcard_operate.demo.tables import DemoTable, config_of
from upcard_platform.client import Refused
from upcard_platform.models.lobby import FreeBet, GrantFreeBet, LobbyTable

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLE = "t-lobby"
ANTE = 100


async def test_a_round_is_seen_in_the_lobby_from_its_first_bet_to_its_result(edge: Edge) -> None:
    platform = edge.platforms[TRANSFER]
    launched = await edge.launched(TRANSFER, "seated")
    expires_at = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    wish = GrantFreeBet(
        request_id=fresh(), currency=CURRENCY, amount=ANTE, wagers=["ante"], expires_at=expires_at
    )
    granted = await platform.players.grant_free_bet("seated", wish)
    assert await platform.players.grant_free_bet("seated", wish) == granted
    demo = DemoTable(TABLE, "classic@1", 2)
    config = config_of(demo)
    config.durations.betting_ms = 20_000
    table = House(edge.casino, demo, Random(7), config)
    await table.open()

    async def shown() -> LobbyTable | None:
        # Platforms learn of a new table within a second, and of its round.
        try:
            return (await platform.lobby.table(TABLE)).item
        except Refused as refused:
            if refused.code != "table_unknown":
                raise
            return None

    await until("the table", shown, lambda found: found is not None and found.dealer is not None)
    number = await table.open_round()
    bet = table_pb2.PlaceBetsItem(
        player=launched.player_ref,
        currency=CURRENCY,
        bet_id=fresh(),
        placements=[table_pb2.Wager(box=4, wager="ante", amount=ANTE, funding=granted.free_bet)],
    )

    async def seated() -> FreeBet:
        (found,) = (await platform.players.free_bets("seated")).items
        return found

    async def placed() -> str:
        request = table_pb2.PlaceBetsRequest(request_id=fresh(), table=TABLE, round=number, items=[bet])
        with acting_as(PLATFORM):
            (item,) = (await edge.casino.table.PlaceBets(request, timeout=CALL_S)).items
        bet.bet_id = fresh()
        return item.WhichOneof("result") or ""

    async def on_window(view: View) -> None:
        if view["window"]["kind"] != "betting":
            return
        # The wallet hears of the free bet from the bonus service's events: until then it has no such money.
        await until("the bet", placed, lambda result: result == "accepted")
        found = await until(
            "the seat",
            shown,
            lambda item: item is not None and item.seats is not None and item.seats.taken != [],
        )
        assert found is not None
        assert found.seats is not None
        assert (found.state, found.round, found.seats.taken, found.seats.players) == (
            "betting",
            number,
            [4],
            1,
        )
        assert found.seats.free == [1, 2, 3, 5, 6]
        await until("the stake", seated, lambda free_bet: (free_bet.left, free_bet.used) == (0, ANTE))

    last = await table.deal(number, on_window)
    assert last["step"] == "settled"
    ended = await until(
        "the result",
        shown,
        lambda item: item is not None and bool(item.last_results) and item.state == "waiting",
    )
    assert ended is not None
    assert ended.seats is not None
    assert ended.seats.taken == []
    assert ended.last_results is not None
    (result,) = ended.last_results
    assert (result.round, result.number, result.end) == (f"{TABLE}.{number}", number, "settled")
    assert result.dealer is not None
    assert len(result.dealer.cards) == 5
    assert result.dealer.first == last["dealer"]["hand"]["name"]
