from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import replace

import httpx
import pytest

from tests.gateway.sessions.behind import SaidHistory, events_of, fresh, launched, refused, told
from tests.gateway.world import World
from upcard.history.v1 import history_pb2 as pb
from upcard_gateway.app.player_sessions import PlayerSessions
from upcard_gateway.entrypoints.http import sessions
from upcard_gateway.entrypoints.http.players import player_sessions_on


async def opened(casino: httpx.AsyncClient, player: str = "anna") -> str:
    """A session whose player is there; its id."""
    found = await launched(casino, player)
    told(await casino.post("/v1/launch", json={"token": found["launch_token"]}))
    return str(found["session"])


async def test_a_session_without_its_player_ends(world: World, casino: httpx.AsyncClient) -> None:
    session = await opened(casino)
    world.clock.move(899)
    kept = told(await casino.post(f"/v1/sessions/{session}/keep_alive", json={"request_id": fresh()}))
    assert kept["seen_at"] == "2026-01-31T12:14:59.000000Z"
    assert kept["due_at"] == "2026-01-31T12:29:59.000000Z"
    world.clock.move(900)
    # It is over at that moment, also where nobody has written it yet.
    shown = told(await casino.get(f"/v1/sessions/{session}"))
    assert (shown["state"], shown["end_reason"], shown["ended_at"]) == ("ended", "idle", kept["due_at"])
    late = await casino.post(f"/v1/sessions/{session}/keep_alive", json={"request_id": fresh()})
    assert refused(late) == (409, "session_ended")
    assert await player_sessions_on(world.edge).end_due(world.clock()) == 1
    kind, actor, payload = (await events_of(world, session))[-1]
    assert (kind, actor, payload["reason"]) == ("SessionEnded", "system", "idle")
    assert told(await casino.get(f"/v1/sessions/{session}")) == shown


async def test_a_session_ends_after_its_longest_time(world: World, casino: httpx.AsyncClient) -> None:
    session = await opened(casino)
    for _ in range(48):
        world.clock.move(899)
        answer = await casino.post(f"/v1/sessions/{session}/keep_alive", json={"request_id": fresh()})
        assert answer.status_code == 200
    world.clock.move(48)
    await player_sessions_on(world.edge).end_due(world.clock())
    shown = told(await casino.get(f"/v1/sessions/{session}"))
    assert (shown["end_reason"], shown["ended_at"]) == ("expired", "2026-02-01T00:00:00.000000Z")


async def test_a_session_that_nobody_redeems_ends(world: World, casino: httpx.AsyncClient) -> None:
    session = (await launched(casino))["session"]
    assert await player_sessions_on(world.edge).end_due(world.clock()) == 0
    world.clock.move(120)
    assert await player_sessions_on(world.edge).end_due(world.clock()) == 1
    assert told(await casino.get(f"/v1/sessions/{session}"))["end_reason"] == "not_started"


async def test_several_instances_end_each_session_once(world: World, casino: httpx.AsyncClient) -> None:
    for number in range(12):
        await launched(casino, f"player-{number}")
    world.clock.move(600)
    desk = player_sessions_on(world.edge)
    counts = await asyncio.gather(*(desk.end_due(world.clock()) for _ in range(4)))
    while await desk.end_due(world.clock()):
        pass
    assert sum(counts) <= 12
    ended = await world.pool.fetch(
        "SELECT session, events FROM gateway.sessions WHERE end_reason = 'not_started'"
    )
    assert [row["events"] for row in ended] == 12 * [2]
    for row in ended:
        assert [kind for kind, _, _ in await events_of(world, row["session"])] == [
            "SessionOpened",
            "SessionEnded",
        ]


async def test_a_former_session_that_was_over_keeps_its_reason(
    world: World, casino: httpx.AsyncClient
) -> None:
    session = await opened(casino)
    world.clock.move(901)
    await launched(casino)
    assert told(await casino.get(f"/v1/sessions/{session}"))["end_reason"] == "idle"


async def test_ending_is_done_once(world: World, casino: httpx.AsyncClient) -> None:
    session = await opened(casino)
    body = {"request_id": fresh()}
    first = await casino.post(f"/v1/sessions/{session}/end", json=body)
    assert (told(first)["state"], told(first)["end_reason"]) == ("ended", "platform")
    world.clock.move(10)
    assert (await casino.post(f"/v1/sessions/{session}/end", json=body)).content == first.content
    other = told(await casino.post(f"/v1/sessions/{session}/end", json={"request_id": fresh()}))
    assert other["ended_at"] == told(first)["ended_at"]
    kinds = [kind for kind, _, _ in await events_of(world, session)]
    assert kinds == ["SessionOpened", "SessionRedeemed", "SessionEnded"]


async def test_a_request_id_is_one_sessions(casino: httpx.AsyncClient) -> None:
    body = {"request_id": fresh()}
    first, second = await opened(casino, "anna"), await opened(casino, "bert")
    told(await casino.post(f"/v1/sessions/{first}/keep_alive", json=body))
    again = await casino.post(f"/v1/sessions/{second}/keep_alive", json=body)
    assert refused(again) == (409, "request_id_reused")


async def test_a_players_sessions_are_listed_in_pages(world: World, casino: httpx.AsyncClient) -> None:
    made = []
    for _ in range(5):
        made.append((await launched(casino))["session"])
        world.clock.move(1)
    await launched(casino, "bert")
    seen: list[str] = []
    after = ""
    pages = 0
    while True:
        page = told(await casino.get(f"/v1/players/anna/sessions?limit=2{after}"))
        seen += [one["session"] for one in page["items"]]
        pages += 1
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert (seen, pages) == (made[::-1], 3)
    foreign = told(await casino.get("/v1/players/bert/sessions"))["items"][0]["session"]
    for cursor in (foreign, "nothing", "%00", "a/b"):
        answer = await casino.get(f"/v1/players/anna/sessions?after={cursor}")
        assert refused(answer) == (400, "cursor_invalid")
    for limit in ("0", "201", "x"):
        answer = await casino.get(f"/v1/players/anna/sessions?limit={limit}")
        assert refused(answer) == (400, "request_invalid")


async def test_a_reality_check(world: World, casino: httpx.AsyncClient, history: SaidHistory) -> None:
    history.totals = [
        pb.PlayerTotal(currency="EUR", rounds=7, won=2, staked=900, returned=650, net=-250, open=1),
        pb.PlayerTotal(currency="GBP", rounds=1, staked=5),
    ]
    found = await launched(casino)
    world.clock.move(30)
    told(await casino.post("/v1/launch", json={"token": found["launch_token"]}))
    world.clock.move(600)
    told(await casino.post(f"/v1/sessions/{found['session']}/keep_alive", json={"request_id": fresh()}))
    check = told(await casino.get(f"/v1/sessions/{found['session']}/reality"))
    assert check == {
        "session": found["session"],
        "player": "anna",
        "currency": "EUR",
        "state": "live",
        "since": "2026-01-31T12:00:00.000000Z",
        "until": "2026-01-31T12:10:30.000000Z",
        "duration_s": 600,
        "rounds": 7,
        "won": 2,
        "staked": 900,
        "returned": 650,
        "net": -250,
        "open_rounds": 1,
    }
    ((who, asked),) = history.asked
    assert (who, asked.player) == (f"player:{found['player_ref']}", "")
    assert asked.since.ToJsonString() == "2026-01-31T12:00:00Z"
    assert asked.until.ToJsonString() == "2026-01-31T12:10:30Z"


async def test_a_reality_check_of_nothing(
    world: World, casino: httpx.AsyncClient, history: SaidHistory
) -> None:
    session = (await launched(casino))["session"]
    check = told(await casino.get(f"/v1/sessions/{session}/reality"))
    assert (check["duration_s"], check["rounds"], check["net"]) == (0, 0, 0)
    # History takes no period without a length.
    assert history.asked[0][1].until.ToMicroseconds() > history.asked[0][1].since.ToMicroseconds()
    world.clock.move(10_000)
    check = told(await casino.get(f"/v1/sessions/{session}/reality"))
    assert (check["state"], check["until"]) == ("ended", "2026-01-31T12:02:00.000000Z")


async def test_history_is_away(casino: httpx.AsyncClient, history: SaidHistory) -> None:
    session = (await launched(casino))["session"]
    history.away = True
    answer = await casino.get(f"/v1/sessions/{session}/reality")
    assert refused(answer) == (503, "unavailable")
    assert answer.json()["money"] == "none_moved"


async def test_what_is_over_is_ended_in_the_background(
    world: World, casino: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = (await launched(casino))["session"]
    world.clock.move(600)
    failed, ended = asyncio.Event(), asyncio.Event()
    once = PlayerSessions.end_due

    async def first_fails(self: PlayerSessions, now: dt.datetime) -> int:
        if not failed.is_set():
            failed.set()
            raise OSError("the database is away")
        number = await once(self, now)
        if number:
            ended.set()
        return number

    monkeypatch.setattr(PlayerSessions, "end_due", first_fails)
    quick = world.edge.settings.model_copy(update={"sessions_swept_s": 0.01})
    ending = asyncio.Event()
    running = asyncio.create_task(sessions._end_due(replace(world.edge, settings=quick), ending))
    async with asyncio.timeout(60):
        await ended.wait()
        ending.set()
        await running
    assert len(await events_of(world, session)) == 2
    assert failed.is_set()


async def test_a_session_that_is_not_there(casino: httpx.AsyncClient) -> None:
    session = "0" * 32
    for answer in (
        await casino.get(f"/v1/sessions/{session}"),
        await casino.get(f"/v1/sessions/{session}/reality"),
        await casino.post(f"/v1/sessions/{session}/end", json={"request_id": fresh()}),
        await casino.post(f"/v1/sessions/{session}/keep_alive", json={"request_id": fresh()}),
    ):
        assert refused(answer) == (404, "session_unknown")
