from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.gateway.sessions.behind import (
    WalletWire,
    all_bytes,
    events_of,
    fresh,
    launched,
    refused,
    told,
)
from tests.gateway.world import World
from tests.wallet.ledger.world import World as Ledger
from upcard_gateway.adapters.postgres.people import PostgresPeople
from upcard_gateway.app.people import ASKED_MAX, PlayerAccount
from upcard_wallet.app.place_holds import WantedHold, WantedHolds


async def erase(casino: httpx.AsyncClient, player: str, request_id: str = "") -> httpx.Response:
    """Ask for a player to be erased."""
    return await casino.post(f"/v1/players/{player}/erase", json={"request_id": request_id or fresh()})


async def test_two_operators_with_the_same_player_id_never_mix(world: World, wallet: WalletWire) -> None:
    one, two = await world.casino("op1"), await world.casino("op2")
    first, second = await launched(one, "anna"), await launched(two, "anna", nickname="Annika")
    assert first["player_ref"] != second["player_ref"]
    assert first["account"] != second["account"]
    # A launch at one operator ends nothing at the other.
    assert told(await one.get(f"/v1/sessions/{first['session']}"))["state"] == "launched"
    pay = {"currency": "EUR", "amount": 700}
    told(await one.post("/v1/wallets/anna/deposits", json=pay | {"request_id": "d-1"}))
    told(await two.post("/v1/wallets/anna/deposits", json=pay | {"request_id": "d-1", "amount": 30}))
    for casino, cash in ((one, 700), (two, 30)):
        (balance,) = told(await casino.get("/v1/wallets/anna/balances"))["items"]
        assert balance["cash"] == cash
    people = PostgresPeople(world.pool)
    both = [first["player_ref"], second["player_ref"]]
    assert await people.partner_ids("op1", both) == {first["player_ref"]: "anna"}
    assert await people.operators_of([*both, "nobody"]) == dict(zip(both, ("op1", "op2"), strict=True))
    assert (await wallet.ledger.balance(second["account"])).account.operator == "op2"
    told(await one.post("/v1/wallets/anna/withdrawals", json=pay | {"request_id": "w-1"}))
    told(await erase(one, "anna"))
    assert told(await two.get("/v1/players/anna/sessions"))["items"]


CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/v1/players/{player}/sessions", {}),
    ("GET", "/v1/wallets/{player}/balances", {}),
    ("POST", "/v1/wallets/{player}/deposits", {"currency": "EUR", "amount": 1}),
    ("POST", "/v1/wallets/{player}/withdrawals", {"currency": "EUR", "amount": 1}),
    ("POST", "/v1/players/{player}/erase", {}),
    ("GET", "/v1/sessions/{session}", {}),
    ("GET", "/v1/sessions/{session}/reality", {}),
    ("POST", "/v1/sessions/{session}/keep_alive", {}),
    ("POST", "/v1/sessions/{session}/end", {}),
]


async def test_somebody_elses_and_nobody_are_answered_alike(world: World) -> None:
    """Not a byte tells whether another operator has such a player."""
    one, two = await world.casino("op1"), await world.casino("op2")
    theirs = await launched(one, "anna")
    before = await events_of(world, theirs["session"])
    for method, path, body in CALLS:
        answers = []
        for player, session in (("anna", theirs["session"]), ("nobody", "0" * 32)):
            content = body | {"request_id": fresh()} if method == "POST" else None
            answer = await two.request(method, path.format(player=player, session=session), json=content)
            answers.append((answer.status_code, answer.json() | {"request_id": None}))
        assert answers[0] == answers[1], path
        assert answers[0][0] == 404
    assert await events_of(world, theirs["session"]) == before
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.accounts") == 1


async def test_events_and_tables_have_opaque_ids_alone(world: World, casino: httpx.AsyncClient) -> None:
    """Whatever an operator tells of a person lies in the one table that can be erased."""
    personal = {
        "player": "anna.partner@casino",
        "nickname": "Annabella",
        "country": "DE",
        "cashier_url": "https://casino.example/pay?who=annabella",
    }
    found = await launched(casino, **personal)
    told(await casino.post("/v1/launch", json={"token": found["launch_token"]}))
    path = f"/v1/wallets/{personal['player']}"
    pay = {"currency": "EUR", "amount": 5}
    told(await casino.post(f"{path}/deposits", json=pay | {"request_id": fresh()}))
    told(await casino.post(f"{path}/withdrawals", json=pay | {"request_id": fresh()}))
    told(await casino.post(f"/v1/sessions/{found['session']}/keep_alive", json={"request_id": fresh()}))
    told(await casino.post(f"/v1/sessions/{found['session']}/end", json={"request_id": fresh()}))
    everything = await all_bytes(world.pool)
    assert found["session"] in everything
    # Contents are shown in hex.
    for text in ("anna.partner", "Annabella", "annabella", "casino.example"):
        assert text not in everything
        assert text.encode().hex() not in everything
    assert "anna.partner" in await all_bytes(world.pool, without="")


async def test_erasing_removes_the_link_and_leaves_every_event(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    found = await launched(casino)
    told(await casino.post("/v1/launch", json={"token": found["launch_token"]}))
    before = await events_of(world, found["session"])
    answer = await erase(casino, "anna", "e-1")
    assert told(answer)["player_ref"] == found["player_ref"]
    after = await events_of(world, found["session"])
    assert after[: len(before)] == before
    assert [(kind, payload.get("reason")) for kind, _, payload in after[len(before) :]] == [
        ("SessionEnded", "player_erased"),
        ("PlayerErased", None),
    ]
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.people") == 0
    # What is asked again gets the original answer; what is asked anew meets nobody.
    assert (await erase(casino, "anna", "e-1")).content == answer.content
    assert refused(await erase(casino, "anna")) == (404, "player_unknown")
    assert refused(await casino.get("/v1/players/anna/sessions")) == (404, "player_unknown")
    shown = told(await casino.get(f"/v1/sessions/{found['session']}"))
    assert (shown["player"], shown["end_reason"]) == (None, "player_erased")
    people = PostgresPeople(world.pool)
    assert await people.known([found["player_ref"]]) == {}
    assert await people.operators_of([found["player_ref"]]) == {found["player_ref"]: "op1"}
    kept = PlayerAccount(found["account"], found["player_ref"], "op1", "EUR")
    assert await people.accounts_of(found["player_ref"]) == (kept,)
    assert await people.owners_of([found["account"], "nothing"]) == {found["account"]: kept}
    assert (await wallet.ledger.balance(found["account"])).account.player == found["player_ref"]


async def test_who_comes_back_after_that_is_somebody_new(world: World, casino: httpx.AsyncClient) -> None:
    body = {"request_id": "l-1"}
    first = await launched(casino, **body)
    told(await erase(casino, "anna"))
    # The old launch, asked once more, does not bring the person back.
    again = await launched(casino, **body)
    assert again == first
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.people") == 0
    second = await launched(casino)
    assert second["player_ref"] != first["player_ref"]
    assert second["account"] != first["account"]


async def test_a_player_with_money_is_not_erased(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    found = await launched(casino)
    pay = {"currency": "EUR", "amount": 40}
    told(await casino.post("/v1/wallets/anna/deposits", json=pay | {"request_id": fresh()}))
    answer = await erase(casino, "anna")
    assert refused(answer) == (409, "player_has_money")
    assert (answer.json()["cash"], answer.json()["held"]) == (40, 0)
    await hold_all(wallet.ledger, found)
    answer = await erase(casino, "anna")
    assert (answer.json()["cash"], answer.json()["held"]) == (0, 40)
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.people") == 1


async def test_the_wallet_is_away_when_a_player_is_erased(
    world: World, casino: httpx.AsyncClient, wallet: WalletWire
) -> None:
    await launched(casino)
    wallet.cut_before.add("GetBalance")
    assert refused(await erase(casino, "anna", "e-2")) == (503, "unavailable")
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.people") == 1
    wallet.cut_before.clear()
    told(await erase(casino, "anna", "e-2"))
    assert await world.pool.fetchval("SELECT count(*) FROM gateway.people") == 0


async def test_too_many_ids_at_once_are_refused(world: World) -> None:
    people = PostgresPeople(world.pool)
    with pytest.raises(ValueError, match="at most"):
        await people.partner_ids("op1", ["p"] * (ASKED_MAX + 1))


async def hold_all(ledger: Ledger, found: dict[str, Any]) -> None:
    """The table holds all of the player's money for a round."""
    wager = WantedHold(1, "ante", 40)
    player = found["player_ref"]
    wanted = WantedHolds("t1.1", player, "EUR", "b-1", (wager,), f"player:{player}", "c-1")
    (placed,) = await ledger.place(wanted)
    assert placed.outcome.state == "held"
