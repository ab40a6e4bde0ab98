"""Free bets over HTTP, with a real bonus service: granted once, listed, taken back, nobody else's."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import httpx
import pytest

from tests.gateway.lobby.conftest import Behind
from tests.gateway.world import World
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.app.people import Person
from upcard_gateway.entrypoints.http import lobby_free_bets
from upcard_gateway.entrypoints.http.edge import Problem
from upcard_platform.models import lobby as models


def order(**more: Any) -> dict[str, Any]:
    """A free bet of ten euros on the ante, for a day."""
    expires_at = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    made = {"request_id": "r1", "currency": "EUR", "amount": 1_000, "wagers": ["ante"]}
    return made | {"expires_at": expires_at.isoformat().replace("+00:00", "Z")} | more


async def known(world: World, operator: str, player: str, *, id_: str, currency: str = "EUR") -> None:
    """Let an operator have a player with an account, as a launch would."""
    async with world.pool.acquire() as connection, connection.transaction():
        person = Person(operator, player, "Nick", "PT", "en", None)
        linked = await PeopleTables.link(connection, id_, person)
        account = await PeopleTables.ensure_account(connection, f"a-{id_}", linked, operator, currency)
        await PeopleTables.account_opened(connection, account.account)


@pytest.fixture
async def casino(world: World) -> httpx.AsyncClient:
    """An operator whose player is alice."""
    made = await world.casino("op1")
    await known(world, "op1", "alice", id_="p-1")
    return made


async def granted(behind: Behind) -> int:
    """How many free bets were ever granted."""
    async with behind.bonus.pool.acquire() as connection:
        return int(await connection.fetchval("SELECT count(*) FROM bonus.free_bets"))


async def test_a_free_bet_is_granted_and_listed(casino: httpx.AsyncClient, behind: Behind) -> None:
    wanted = order(wagers=["ante", "bonus_player"])
    answer = await casino.post("/v1/players/alice/free-bets", json=wanted)
    assert answer.status_code == 200, answer.text
    free_bet = models.FreeBet.model_validate(answer.json())
    assert (free_bet.player, free_bet.amount, free_bet.left, free_bet.used) == ("alice", 1_000, 1_000, 0)
    assert (free_bet.wagers, free_bet.state) == (["ante", "bonus_player"], "granted")
    assert free_bet.expires_at == dt.datetime.fromisoformat(wanted["expires_at"])
    listed = await casino.get("/v1/players/alice/free-bets")
    assert models.FreeBetPage.model_validate(listed.json()).items == [free_bet]
    assert await granted(behind) == 1


async def test_the_same_call_gets_the_original_answer(casino: httpx.AsyncClient, behind: Behind) -> None:
    wanted = order()
    first = await casino.post("/v1/players/alice/free-bets", json=wanted)
    revoked = await casino.post(
        f"/v1/players/alice/free-bets/{first.json()['free_bet']}/revoke", json={"request_id": "r2"}
    )
    assert revoked.json()["left"] == 0
    again = await casino.post("/v1/players/alice/free-bets", json=wanted)
    assert (again.status_code, again.content) == (200, first.content)
    other = await casino.post("/v1/players/alice/free-bets", json=wanted | {"amount": 2_000})
    assert (other.status_code, other.json()["code"]) == (409, "request_id_reused")
    assert await granted(behind) == 1


async def test_the_same_call_many_times_at_once_grants_once(
    casino: httpx.AsyncClient, behind: Behind
) -> None:
    wanted = order()
    answers = await asyncio.gather(
        *(casino.post("/v1/players/alice/free-bets", json=wanted) for _ in range(12))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert await granted(behind) == 1


async def test_a_process_that_dies_before_it_keeps_the_answer_grants_once(
    casino: httpx.AsyncClient, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*arguments: object) -> bytes:
        raise Problem("unavailable", f"gone, with {len(arguments)} things to keep")

    wanted = order()
    with monkeypatch.context() as here:
        here.setattr(lobby_free_bets, "kept", dies)
        died = await casino.post("/v1/players/alice/free-bets", json=wanted)
    assert (died.status_code, died.json()["retry"]) == (503, "same_request")
    assert await granted(behind) == 1
    again = await casino.post("/v1/players/alice/free-bets", json=wanted)
    assert again.status_code == 200, again.text
    assert (await casino.get("/v1/players/alice/free-bets")).json()["items"] == [again.json()]
    assert await granted(behind) == 1


async def test_an_unknown_player_and_somebody_elses_are_told_apart_by_nobody(
    casino: httpx.AsyncClient, world: World, behind: Behind
) -> None:
    other = await world.casino("op2")
    await casino.post("/v1/players/alice/free-bets", json=order())
    for path, body in (
        ("/v1/players/{}/free-bets", None),
        ("/v1/players/{}/free-bets", order(request_id="r7")),
        ("/v1/players/{}/free-bets/f1/revoke", {"request_id": "r8"}),
    ):
        answers = []
        for player in ("alice", "nobody"):
            whose = path.format(player)
            answers.append(await (other.get(whose) if body is None else other.post(whose, json=body)))
            if body is not None:
                body = body | {"request_id": body["request_id"] + "x"}  # noqa: PLW2901 - another wish
        assert [answer.status_code for answer in answers] == [404, 404]
        told = [{**answer.json(), "request_id": None} for answer in answers]
        assert told[0] == told[1]
        assert told[0]["code"] == "player_unknown"
    assert await granted(behind) == 1


async def test_the_same_player_id_of_two_operators_are_two_players(
    casino: httpx.AsyncClient, world: World
) -> None:
    other = await world.casino("op2")
    await known(world, "op2", "alice", id_="p-2")
    mine = (await casino.post("/v1/players/alice/free-bets", json=order(amount=100))).json()
    its = (await other.post("/v1/players/alice/free-bets", json=order(amount=200))).json()
    assert mine["free_bet"] != its["free_bet"]
    assert (await casino.get("/v1/players/alice/free-bets")).json()["items"] == [mine]
    assert (await other.get("/v1/players/alice/free-bets")).json()["items"] == [its]
    stolen = await other.post(
        f"/v1/players/alice/free-bets/{mine['free_bet']}/revoke", json={"request_id": "r3"}
    )
    assert (stolen.status_code, stolen.json()["code"]) == (404, "free_bet_unknown")
    assert (await casino.get("/v1/players/alice/free-bets")).json()["items"] == [mine]


async def test_what_is_left_is_taken_back_once(casino: httpx.AsyncClient) -> None:
    free_bet = (await casino.post("/v1/players/alice/free-bets", json=order())).json()["free_bet"]
    path = f"/v1/players/alice/free-bets/{free_bet}/revoke"
    answer = await casino.post(path, json={"request_id": "r2"})
    assert (answer.status_code, answer.json()["state"], answer.json()["left"]) == (200, "expired", 0)
    again = await casino.post(path, json={"request_id": "r2"})
    assert again.content == answer.content


async def test_without_an_account_in_the_currency_nothing_is_granted(
    casino: httpx.AsyncClient, behind: Behind
) -> None:
    answer = await casino.post("/v1/players/alice/free-bets", json=order(currency="GBP"))
    assert (answer.status_code, answer.json()["code"]) == (404, "account_unknown")
    assert answer.json()["money"] == "none_moved"
    assert await granted(behind) == 0


async def test_what_the_bonus_service_refuses_is_said_with_its_reason(casino: httpx.AsyncClient) -> None:
    for days in (-1, 401):
        expires_at = (dt.datetime.now(dt.UTC) + dt.timedelta(days=days)).isoformat()
        wanted = order(request_id=f"r{days}", expires_at=expires_at)
        answer = await casino.post("/v1/players/alice/free-bets", json=wanted)
        assert (answer.status_code, answer.json()["code"]) == (409, "free_bet_refused")
        assert answer.json()["reason"] == "expiry_invalid"


@pytest.mark.parametrize(
    "wrong",
    [
        {"amount": 0},
        {"amount": "10"},
        {"amount": 2**53},
        {"wagers": []},
        {"wagers": ["bet"]},
        {"wagers": ["ante", "ante"]},
        {"expires_at": "2026-01-31T12:00:00"},
        {"expires_at": "9999-12-31T23:59:59-12:00"},
        {"expires_at": "0001-01-01T00:00:00+12:00"},
        {"currency": "eur"},
        {"request_id": ""},
        {"more": 1},
    ],
    ids=str,
)
async def test_a_wrong_order_is_refused(casino: httpx.AsyncClient, behind: Behind, wrong: Any) -> None:
    answer = await casino.post("/v1/players/alice/free-bets", json=order(**wrong))
    assert answer.status_code in (400, 409)
    assert answer.json()["code"] in ("request_invalid", "free_bet_refused")
    assert await granted(behind) == 0


async def test_free_bets_come_in_pages(casino: httpx.AsyncClient) -> None:
    made = set()
    for number in range(7):
        answer = await casino.post("/v1/players/alice/free-bets", json=order(request_id=f"r{number}"))
        made.add(answer.json()["free_bet"])
    seen: list[str] = []
    query = "limit=3"
    while True:
        page = (await casino.get(f"/v1/players/alice/free-bets?{query}")).json()
        seen += [one["free_bet"] for one in page["items"]]
        if page["next"] is None:
            break
        query = f"limit=3&after={page['next']}"
    assert seen == sorted(made)
