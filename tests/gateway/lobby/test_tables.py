"""A platform's lobby over HTTP: signed, over a real table service and its log."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from rules_core.round import events as e
from tests.gateway.lobby.conftest import Behind
from tests.gateway.world import World, open_world
from tests.table.watching.rounds import Played, config, played
from upcard.history.v1 import history_pb2
from upcard_gateway.domain.operators import CurrencyLimits, Terms
from upcard_platform.models import lobby as models
from upcard_table.domain import events as t


@pytest.fixture
async def world(service_database: str, behind: Behind) -> AsyncIterator[World]:
    async with open_world(
        service_database,
        services=behind.services,
        sandbox_tables={"s1"},
        table_languages={"t2": ("pt-BR",)},
        dealer_names={"d1": "Ana"},
    ) as opened:
        yield opened


def again(world: World) -> None:
    """Forget what the lobby has kept, as if it was long ago."""
    del world.app.state.lobby


async def told(casino: httpx.AsyncClient, path: str) -> httpx.Response:
    """The answer once every part of it is known: a busy machine may leave parts out at first."""
    async with asyncio.timeout(60):
        while True:
            answer = await casino.get(path)
            assert answer.status_code == 200, answer.text
            if not answer.json()["stale"]:
                return answer


def until_betting(round_: Played) -> int:
    """So many events until somebody has bet."""
    return 1 + next(place for place, one in enumerate(round_.events) if isinstance(one.event, e.BetPlaced))


async def test_a_table_is_shown_as_it_stands(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    round_ = played("classic@1", 2)
    await behind.play(round_, until_betting(round_))
    await behind.listed("t1", step="betting", last_round=1)
    casino = await world.casino()
    answer = await told(casino, "/v1/tables")
    page = models.TablePage.model_validate(answer.json())
    (item,) = page.items
    assert (page.next, page.stale) == (None, False)
    assert (item.table, item.name, item.ruleset, item.kind) == ("t1", "One", "classic@1", "exclusive")
    assert (item.state, item.step, item.round) == ("betting", "betting", 1)
    assert item.dealer == models.Dealer(id="d1", name="Ana")
    assert item.languages == ["en"]
    assert [one.currency for one in item.limits] == ["EUR"]
    assert item.seats is not None
    bet = next(one.event for one in round_.events if isinstance(one.event, e.BetPlaced))
    assert item.seats.taken == sorted({stake.box for stake in bet.stakes})
    assert item.seats.players == 1
    assert item.last_results == []
    one = await told(casino, "/v1/tables/t1")
    assert models.TableAnswer.model_validate(one.json()).item == item


async def test_nothing_of_a_player_is_in_the_lobby(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    round_ = played("classic@1", 2)
    await behind.play(round_, until_betting(round_))
    await behind.listed("t1", step="betting", last_round=1)
    answer = await told(await world.casino(), "/v1/tables")
    assert answer.json()["items"][0]["seats"]["players"] == 1
    for player in round_.players:
        assert f'"{player}"' not in answer.text


async def test_last_results_are_those_of_the_history(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    round_ = played("classic@1", 1)
    await behind.play(round_, len(round_.events))
    await behind.listed("t1", step="settled", last_round=1)
    ended_at = Timestamp()
    ended_at.FromDatetime(dt.datetime(2026, 1, 31, 11, 59, 30, 250_000, tzinfo=dt.UTC))
    behind.history.results["t1"] = [
        history_pb2.TableResult(
            round="t1.1",
            number=1,
            state=history_pb2.ROUND_STATE_SETTLED,
            ended_at=ended_at,
            dealer=history_pb2.DealerHand(
                first="ace_king", final="ace_king", cards=["Ah", "Kd", "7s", "3c", "2d"], qualified=True
            ),
            corrections=1,
        )
    ]
    answer = await told(await world.casino(), "/v1/tables/t1")
    item = answer.json()["item"]
    assert item["state"] == "waiting"
    assert item["seats"] == {
        "boxes": 6,
        "shared": False,
        "taken": [],
        "free": [1, 2, 3, 4, 5, 6],
        "players": 0,
    }
    assert item["last_results"] == [
        {
            "round": "t1.1",
            "number": 1,
            "end": "settled",
            "reason": None,
            "ended_at": "2026-01-31T11:59:30.250000Z",
            "dealer": {
                "first": "ace_king",
                "final": "ace_king",
                "cards": ["Ah", "Kd", "7s", "3c", "2d"],
                "qualified": True,
                "purchased": False,
            },
            "corrections": 1,
        }
    ]


async def test_a_lobby_that_many_read_costs_the_table_service_one_call(
    service_database: str, behind: Behind
) -> None:
    await behind.open_table("t1")
    await behind.listed("t1")
    async with open_world(service_database, services=behind.services, lobby_fresh_s=60) as world:
        casino = await world.casino()
        for _ in range(5):
            answers = await asyncio.gather(*(casino.get("/v1/tables") for _ in range(8)))
            assert {answer.status_code for answer in answers} == {200}
        assert behind.calls == ["ListTables"]


async def test_who_pages_gets_every_table_once(world: World, behind: Behind) -> None:
    names = [f"t{number}" for number in range(10, 17)]
    for name in names:
        await behind.open_table(name)
    for name in names:
        await behind.listed(name)
    casino = await world.casino()
    seen: list[str] = []
    query = "limit=3"
    while True:
        page = (await casino.get(f"/v1/tables?{query}")).json()
        seen += [item["table"] for item in page["items"]]
        if page["next"] is None:
            break
        query = f"limit=3&after={page['next']}"
    assert seen == names


@pytest.mark.parametrize(
    "after", ["x", "dGFibGVz", "amFja3BvdHM6ajE", "dGFibGVzOnQx%3D", "%F0%9F%98%80", "A" * 300]
)
async def test_a_cursor_that_was_not_made_here_is_refused(world: World, behind: Behind, after: str) -> None:
    assert behind.calls == []
    answer = await (await world.casino()).get(f"/v1/tables?after={after}")
    assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")


async def test_sandbox_and_live_tables_are_apart_on_every_route(world: World, behind: Behind) -> None:
    for name in ("s1", "t1"):
        await behind.open_table(name)
    for name in ("s1", "t1"):
        await behind.listed(name)
    live = await world.casino("op1")
    sandbox = await world.casino("op2", environment="sandbox")
    for client, own, other in ((live, "t1", "s1"), (sandbox, "s1", "t1")):
        listed = (await client.get("/v1/tables")).json()
        assert [item["table"] for item in listed["items"]] == [own]
        for part in ("", "/limits", "/payouts", "/rules", "/rules?format=html"):
            assert (await client.get(f"/v1/tables/{own}{part}")).status_code == 200
            refused = await client.get(f"/v1/tables/{other}{part}")
            unknown = await client.get(f"/v1/tables/nowhere{part}")
            assert refused.status_code == unknown.status_code == 404
            assert refused.json() == unknown.json()
            assert refused.json()["code"] == "table_unknown"


async def test_boards_show_the_operators_currencies_and_limits(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    await behind.listed("t1")
    terms = Terms("Casino", (CurrencyLimits("EUR", 300, 9_000), CurrencyLimits("GBP")))
    casino = await world.casino(terms=terms)
    board = models.LimitsBoard.model_validate((await casino.get("/v1/tables/t1/limits")).json())
    (euros,) = board.currencies
    known = config("classic@1").limits[0]
    assert (euros.chip, euros.ante.min, euros.ante.max) == (known.chip, known.ante.min, known.ante.max)
    assert euros.chips == list(config("classic@1").chips[0].values)
    assert (euros.operator_min_bet, euros.operator_max_bet) == (300, 9_000)
    assert board.durations.betting_ms == config("classic@1").durations.betting_ms
    other = await world.casino("op2", terms=Terms("Casino", (CurrencyLimits("GBP"),)))
    assert (await other.get("/v1/tables/t1/limits")).status_code == 404


async def test_changed_limits_are_on_the_board(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    await behind.listed("t1")
    casino = await world.casino()
    before = (await casino.get("/v1/tables/t1/limits")).json()
    wider = config("classic@1")
    changed = replace(wider, limits=(replace(wider.limits[0], player_total_max=77_700),))
    await behind.open(t.TableOpened("t2", changed, 1), table="t2")
    await behind.listed("t2")
    again(world)
    after = (await casino.get("/v1/tables/t2/limits")).json()
    assert after["currencies"][0]["player_total_max"] == 77_700
    assert before["currencies"][0]["player_total_max"] != 77_700


async def test_the_rules_come_as_parts_and_as_a_page(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    await behind.listed("t1")
    casino = await world.casino()
    parts = models.RulesPage.model_validate((await casino.get("/v1/tables/t1/rules")).json())
    page = await casino.get("/v1/tables/t1/rules?format=html")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert parts.sections[0].sentences[0].text in page.text
    assert (await casino.get("/v1/tables/t1/rules?format=pdf")).status_code == 400


async def test_a_table_of_rules_that_this_program_lacks_hides_no_other(world: World, behind: Behind) -> None:
    await behind.open_table("t1")
    await behind.open(t.TableOpened("t2", replace(config("classic@1"), ruleset="newer@9"), 1), table="t2")
    for name in ("t1", "t2"):
        await behind.listed(name)
    answer = await (await world.casino()).get("/v1/tables")
    assert [item["table"] for item in answer.json()["items"]] == ["t1"]


async def test_without_the_table_service_a_reader_is_told_to_come_again(world: World, behind: Behind) -> None:
    await behind.stop_table()
    answer = await (await world.casino()).get("/v1/tables")
    assert answer.status_code == 503
    body = answer.json()
    assert (body["code"], body["money"], body["retry"]) == ("unavailable", "none_moved", "same_request")
    assert answer.headers["retry-after"] == "1"


async def test_what_was_known_is_shown_with_its_age_when_the_table_service_is_away(
    service_database: str, behind: Behind
) -> None:
    async with open_world(service_database, services=behind.services, lobby_fresh_s=0.1) as world:
        await behind.open_table("t1")
        await behind.listed("t1")
        casino = await world.casino()
        assert (await casino.get("/v1/tables")).json()["stale"] is False
        await behind.stop_table()
        page: dict[str, Any] = {}
        async with asyncio.timeout(60):
            while not page.get("stale"):
                answer = await casino.get("/v1/tables")
                assert answer.status_code == 200
                page = answer.json()
        assert [item["table"] for item in page["items"]] == ["t1"]
        assert page["as_of"] < "2026-01-31T12:00:00.000000Z"


async def test_jackpots_are_shown_with_what_is_in_them(world: World, behind: Behind) -> None:
    plain = config("dark-boxes@1")
    await behind.open(t.TableOpened("t1", replace(plain, jackpot="j1"), 1), table="t1")
    await behind.listed("t1")
    await behind.bonus.jackpot("j1", "t1", must_hit_by=50_000, reseed=True)
    await behind.bonus.jackpot("j2", "t9")
    answer = await (await world.casino()).get("/v1/jackpots")
    assert answer.status_code == 200, answer.text
    (item,) = models.JackpotPage.model_validate(answer.json()).items
    assert (item.jackpot, item.currency, item.pool, item.tables) == ("j1", "EUR", 1_000, ["t1"])
    assert (item.must_hit_by, item.cycle) == (50_000, 1)
    assert item.commitment is not None
    assert "contribution" not in answer.text
    assert "op1" not in answer.text
    sandbox = await world.casino("op2", environment="sandbox")
    assert (await sandbox.get("/v1/jackpots")).json()["items"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/tables",
        "/v1/tables/t1",
        "/v1/tables/t1/limits",
        "/v1/tables/t1/payouts",
        "/v1/tables/t1/rules",
        "/v1/jackpots",
    ],
)
async def test_who_does_not_sign_is_told_nothing(world: World, behind: Behind, path: str) -> None:
    answer = await (await world.client()).get(path)
    assert answer.status_code == 401
    assert behind.calls == []
