from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import httpx
import pytest

from eventstore import faults
from tests.gateway.sessions.behind import (
    WalletWire,
    events_of,
    fresh,
    launch_of,
    launched,
    refused,
    told,
)
from tests.gateway.world import World
from upcard_gateway.domain.operators import CurrencyLimits, Terms


async def test_a_launch_opens_a_session_and_an_account(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    body = launch_of(limits={"wager_max": 500, "duration_s": 600}, table="t1")
    found = told(await casino.post("/v1/sessions", json=body))
    assert found["player"] == "anna"
    assert found["launch_url"] == f"http://127.0.0.1/play#launch_token={found['launch_token']}"
    assert found["launch_until"] == "2026-01-31T12:02:00.000000Z"
    assert found["ends_by"] == "2026-01-31T12:10:00.000000Z"
    balance = await wallet.ledger.balance(found["account"])
    assert (balance.account.player, balance.account.operator) == (found["player_ref"], "op1")
    assert (balance.account.currency, balance.account.purse) == ("EUR", "internal")
    ((kind, actor, payload),) = await events_of(world, found["session"])
    assert (kind, actor) == ("SessionOpened", "platform")
    assert payload["player"] == found["player_ref"]
    assert (payload["table"], payload["wager_max"]) == ("t1", 500)
    shown = told(await casino.get(f"/v1/sessions/{found['session']}"))
    assert (shown["state"], shown["player"], shown["due_at"]) == ("launched", "anna", found["launch_until"])


async def test_the_same_launch_again_gets_the_original_answer(
    world: World, casino: httpx.AsyncClient
) -> None:
    body = launch_of()
    first = await casino.post("/v1/sessions", json=body)
    world.clock.move(30)
    again = await casino.post("/v1/sessions", json=body)
    assert again.content == first.content
    assert refused(await casino.post("/v1/sessions", json=body | {"nickname": "Bert"})) == (
        409,
        "request_id_reused",
    )
    redeemed = await casino.post("/v1/launch", json={"token": told(again)["launch_token"]})
    assert told(redeemed)["session"] == told(first)["session"]


async def test_the_same_launch_many_times_at_once_is_one(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    body = launch_of()
    answers = await asyncio.gather(*(casino.post("/v1/sessions", json=body) for _ in range(8)))
    assert len({answer.content for answer in answers}) == 1, [answer.text for answer in answers]
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.sessions") == 1
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.players") == 1
    assert await wallet.ledger.pool.fetchval("SELECT count(*) FROM wallet.accounts") == 1


async def test_first_launches_of_one_player_at_once_make_one_player(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    found = await asyncio.gather(*(launched(casino) for _ in range(8)))
    assert len({one["player_ref"] for one in found}) == len({one["account"] for one in found}) == 1
    assert len({one["session"] for one in found}) == 8
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.players") == 1
    live = await world.pool.fetch("SELECT session FROM gateway.sessions WHERE ended_at IS NULL")
    assert len(live) == 1
    assert await wallet.ledger.pool.fetchval("SELECT count(*) FROM wallet.accounts") == 1


async def test_a_new_launch_ends_the_former_session(world: World, casino: httpx.AsyncClient) -> None:
    first = await launched(casino)
    token = told(await casino.post("/v1/launch", json={"token": first["launch_token"]}))["session_token"]
    world.clock.move(5)
    second = await launched(casino, nickname="Anna B")
    shown = told(await casino.get(f"/v1/sessions/{first['session']}"))
    assert (shown["state"], shown["end_reason"]) == ("ended", "replaced")
    assert [kind for kind, _, _ in await events_of(world, first["session"])] == [
        "SessionOpened",
        "SessionRedeemed",
        "SessionEnded",
    ]
    assert token
    redeemed = told(await casino.post("/v1/launch", json={"token": second["launch_token"]}))
    assert redeemed["nickname"] == "Anna B"


@pytest.mark.parametrize(
    ("own", "said", "found"), [(None, None, None), (300, None, 300), (300, 200, 200), (300, 500, 300)]
)
async def test_the_narrower_limit_counts(
    world: World, own: int | None, said: int | None, found: int | None
) -> None:
    terms = Terms("Casino", (CurrencyLimits("EUR", None, own),))
    casino = await world.casino("op1", terms=terms)
    session = (await launched(casino, limits={"wager_max": said}))["session"]
    assert (
        await world.pool.fetchval("SELECT wager_max FROM gateway.sessions WHERE session = $1", session)
        == found
    )


class Died(Exception):
    """The process would have died here."""


@pytest.mark.parametrize("point", ["gateway.call.before_commit", "gateway.call.committed"])
async def test_the_process_dies_at_a_launch(world: World, casino: httpx.AsyncClient, point: str) -> None:
    body = launch_of()

    def die(reached: str) -> None:
        if reached == point:
            raise Died

    with faults.arm(die), contextlib.suppress(Died):
        assert (await casino.post("/v1/sessions", json=body)).status_code == 500
    found = await launched(casino, **body)
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.sessions") == 1
    assert [kind for kind, _, _ in await events_of(world, found["session"])] == ["SessionOpened"]
    told(await casino.post("/v1/launch", json={"token": found["launch_token"]}))


@pytest.mark.parametrize("call", ["OpenAccount"])
async def test_the_wallet_goes_away_in_the_middle(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire, call: str
) -> None:
    body = launch_of()
    for cut in (wallet.cut_before, wallet.cut_after):
        cut.add(call)
        assert refused(await casino.post("/v1/sessions", json=body)) == (503, "unavailable")
        cut.clear()
    found = told(await casino.post("/v1/sessions", json=body))
    assert found["session"]
    assert await wallet.ledger.pool.fetchval("SELECT count(*) FROM wallet.accounts") == 1
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.sessions") == 1


async def test_a_seamless_operators_account_lies_with_the_partner(world: World, wallet: WalletWire) -> None:
    casino = await world.casino("op2", wallet="seamless")
    found = await launched(casino)
    balance = await wallet.ledger.balance(found["account"])
    assert (balance.account.purse, balance.account.operator) == ("seamless", "op2")


CURRENCY, INVALID = (409, "currency_refused"), (400, "request_invalid")
WRONG: list[tuple[dict[str, object], tuple[int, str]]] = [
    ({"currency": "USD"}, CURRENCY),
    ({"currency": "euro"}, INVALID),
    ({"player": "a b"}, INVALID),
    ({"player": ".."}, INVALID),
    ({"player": "x" * 129}, INVALID),
    ({"nickname": "a\u202eb"}, INVALID),
    ({"nickname": "a\x00b"}, INVALID),
    ({"nickname": " a"}, INVALID),
    ({"nickname": ""}, INVALID),
    ({"country": "Germany"}, INVALID),
    ({"language": "e"}, INVALID),
    ({"cashier_url": "javascript:alert(1)"}, INVALID),
    ({"cashier_url": 'https://casino.example/"><script>'}, INVALID),
    ({"limits": {"wager_max": 0}}, INVALID),
    ({"limits": {"duration_s": 59}}, INVALID),
    ({"limits": {"stake_max": 5}}, INVALID),
    ({"request_id": ""}, INVALID),
    ({"nick": "x"}, INVALID),
]


async def test_what_cannot_be_launched(world: World, casino: httpx.AsyncClient) -> None:
    for wrong, code in WRONG:
        assert refused(await casino.post("/v1/sessions", json=launch_of() | wrong)) == code, wrong
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.players") == 0


async def test_a_request_id_is_never_optional(casino: httpx.AsyncClient) -> None:
    body = launch_of()
    del body["request_id"]
    assert refused(await casino.post("/v1/sessions", json=body)) == (400, "request_invalid")
    found = await launched(casino)
    for path in (f"/v1/sessions/{found['session']}/end", f"/v1/sessions/{found['session']}/keep_alive"):
        assert refused(await casino.post(path, json={})) == (400, "request_invalid")
    assert refused(await casino.post("/v1/players/anna/erase", json={})) == (400, "request_invalid")


async def test_a_launch_whose_key_is_gone_is_not_told_again(world: World, casino: httpx.AsyncClient) -> None:
    body = launch_of()
    told(await casino.post("/v1/sessions", json=body))
    settings = world.edge.settings
    newer = {"secret_keys": {"secrets-2": settings.secret_keys["secrets-1"]}, "secret_key": "secrets-2"}
    world.app.state.edge = replace(world.edge, settings=settings.model_copy(update=newer))
    assert refused(await casino.post("/v1/sessions", json=body)) == (409, "session_ended")
    await launched(casino)


async def test_a_sandbox_operator_is_sent_to_sandbox_tables_alone(world: World) -> None:
    casino = await world.casino("op3", environment="sandbox")
    body = launch_of(table="t1", request_id=fresh())
    assert refused(await casino.post("/v1/sessions", json=body)) == (404, "not_found")


async def test_a_live_operator_is_sent_to_no_sandbox_table(world: World) -> None:
    casino = await world.casino("op1")
    settings = world.edge.settings.model_copy(update={"sandbox_tables": frozenset({"practice"})})
    world.app.state.edge = replace(world.edge, settings=settings)
    there = launch_of(table="practice", request_id=fresh())
    assert refused(await casino.post("/v1/sessions", json=there)) == (404, "not_found")
    await launched(casino, table="t1")
    sandbox = await world.casino("op3", environment="sandbox")
    await launched(sandbox, table="practice")
