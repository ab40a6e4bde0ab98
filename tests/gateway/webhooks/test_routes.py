"""What a platform does with its webhooks over the API, and what it cannot do with another's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from tests.gateway.webhooks.receiving import Receiver
from tests.gateway.webhooks.world import HookWorld
from tests.gateway.world import World, open_world
from upcard_gateway.adapters.postgres import webhook_endpoints
from upcard_platform.models.webhooks import ENDPOINTS_MAX

URL = "https://hooks.example.com/upcard"


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """A gateway that sends to public addresses alone."""
    async with open_world(service_database) as opened:
        yield opened


@pytest.fixture
def events(world: World) -> HookWorld:
    """Events for the gateway."""
    return HookWorld(world.pool, world.edge.store, Receiver())


def add(
    request_id: str = "r1", url: str = URL, types: tuple[str, ...] = ("table_state",)
) -> dict[str, object]:
    """The body of a new endpoint."""
    return {"request_id": request_id, "url": url, "types": list(types)}


async def added(client: httpx.AsyncClient, request_id: str = "r1") -> str:
    """An endpoint's id."""
    answer = await client.post("/v1/webhook-endpoints", json=add(request_id))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["endpoint"]["endpoint"])


def code(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem."""
    return answer.status_code, answer.json()["code"]


async def test_an_endpoint_is_added_once_and_its_secret_shown_to_who_asks_again(world: World) -> None:
    casino = await world.casino("op1")
    first = await casino.post("/v1/webhook-endpoints", json=add())
    again = await casino.post("/v1/webhook-endpoints", json=add())
    assert first.status_code == 200
    assert again.content == first.content
    shown = first.json()
    assert shown["secret"].startswith("whsec_")
    assert shown["endpoint"]["url"] == URL
    listed = (await casino.get("/v1/webhook-endpoints")).json()
    assert listed == {"items": [shown["endpoint"]], "next": None}
    assert code(await casino.post("/v1/webhook-endpoints", json=add(url=URL + "/2"))) == (
        409,
        "request_id_reused",
    )
    stored = await world.pool.fetch("SELECT answer FROM eventstore.answers")
    assert stored
    secret = shown["secret"].removeprefix("whsec_").encode()
    assert all(secret not in row["answer"] for row in stored), "no secret lies there as it is"
    assert secret not in json.dumps(listed).encode()


@pytest.mark.parametrize(
    "url",
    ["http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/", "https://a:b@example.com/"],
)
async def test_an_address_inside_is_refused(world: World, url: str) -> None:
    casino = await world.casino("op1")
    assert code(await casino.post("/v1/webhook-endpoints", json=add(url=url))) == (
        422,
        "webhook_url_refused",
    )


@pytest.mark.parametrize(
    "change", [{"types": []}, {"types": ["weather"]}, {"types": ["jackpot", "jackpot"]}, {"more": 1}]
)
async def test_what_the_call_does_not_take_is_refused(world: World, change: dict[str, object]) -> None:
    casino = await world.casino("op1")
    assert code(await casino.post("/v1/webhook-endpoints", json=add() | change)) == (400, "request_invalid")


async def test_there_are_so_many_endpoints_at_the_most(world: World) -> None:
    casino = await world.casino("op1")
    endpoints = [await added(casino, f"r{number}") for number in range(ENDPOINTS_MAX)]
    full = await casino.post("/v1/webhook-endpoints", json=add("more"))
    assert code(full) == (409, "webhook_endpoints_full")
    await casino.post(f"/v1/webhook-endpoints/{endpoints[-1]}/remove", json={"request_id": "x"})
    assert (await casino.post("/v1/webhook-endpoints", json=add("more"))).status_code == 200


async def test_a_removed_endpoint_is_shown_and_nothing_else_is_done_with_it(world: World) -> None:
    casino = await world.casino("op1")
    endpoint = await added(casino)
    path = f"/v1/webhook-endpoints/{endpoint}"
    removed = await casino.post(f"{path}/remove", json={"request_id": "x1"})
    assert removed.json()["removed_at"] is not None
    assert (await casino.post(f"{path}/remove", json={"request_id": "x1"})).content == removed.content
    assert (await casino.get("/v1/webhook-endpoints")).json()["items"] == [removed.json()]
    for what in ("remove", "secret", "resend-parked"):
        answer = await casino.post(f"{path}/{what}", json={"request_id": "x2"})
        assert code(answer) == (409, "webhook_endpoint_removed")


async def test_a_secret_is_replaced_once_for_a_request(world: World) -> None:
    casino = await world.casino("op1")
    endpoint = await added(casino)
    path = f"/v1/webhook-endpoints/{endpoint}/secret"
    first = await casino.post(path, json={"request_id": "s1"})
    assert first.status_code == 200
    assert (await casino.post(path, json={"request_id": "s1"})).content == first.content
    second = await casino.post(path, json={"request_id": "s2"})
    assert second.json()["secret"] != first.json()["secret"]
    assert second.json()["endpoint"]["old_secret_until"] is not None


async def test_webhooks_are_listed_page_by_page_the_newest_first(world: World, events: HookWorld) -> None:
    casino = await world.casino("op1")
    endpoint = await added(casino)
    for number in range(1, 6):
        await events.closed("t1", number)
    found: list[int] = []
    after: str | None = None
    while True:
        query = {"limit": 2} | ({"after": after} if after else {})
        page = (await casino.get("/v1/webhooks", params=query)).json()
        found += [one["position"] for one in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert found == [5, 4, 3, 2, 1]
    one = page["items"][-1]
    assert (one["state"], one["endpoint"], one["subject"]) == ("queued", endpoint, "table-t1")
    # The first is due; the others stand behind it.
    assert one["next_try_at"] is not None
    everything = (await casino.get("/v1/webhooks")).json()["items"]
    assert [item["next_try_at"] is None for item in everything] == [True, True, True, True, False]
    assert (await casino.get(f"/v1/webhooks/{one['webhook']}")).json() == one
    for wanted in ({"state": "parked"}, {"type": "jackpot"}, {"endpoint": "other"}):
        assert (await casino.get("/v1/webhooks", params=wanted)).json() == {"items": [], "next": None}
    for cursor in ("x", str(uuid4())):
        assert code(await casino.get("/v1/webhooks", params={"after": cursor})) == (400, "cursor_invalid")


async def test_a_webhook_that_is_over_is_sent_again_once_for_a_request(
    world: World, events: HookWorld
) -> None:
    casino = await world.casino("op1")
    await added(casino)
    await events.closed("t1", 1)
    (one,) = (await casino.get("/v1/webhooks")).json()["items"]
    path = f"/v1/webhooks/{one['webhook']}/resend"
    assert code(await casino.post(path, json={"request_id": "a"})) == (409, "webhook_queued")
    await over(world, "delivered")
    again = await casino.post(path, json={"request_id": "b"})
    assert again.json()["state"] == "queued"
    assert again.json()["next_try_at"] is not None
    await over(world, "parked")
    assert (await casino.post(path, json={"request_id": "b"})).content == again.content
    assert await events.count("queued") == 0, "the same request queues nothing again"
    assert (await casino.post(path, json={"request_id": "c"})).status_code == 200


async def test_parked_webhooks_are_sent_again_all_at_once(world: World, events: HookWorld) -> None:
    casino = await world.casino("op1")
    endpoint = await added(casino)
    for number in (1, 2, 3):
        await events.closed("t1", number)
    await over(world, "parked")
    answer = await casino.post(f"/v1/webhook-endpoints/{endpoint}/resend-parked", json={"request_id": "a"})
    assert answer.json() == {"resent": 3, "more": False}
    assert await events.count("queued") == 3


async def over(world: World, state: str) -> None:
    """Everything has been tried, and came to this."""
    await world.pool.execute("UPDATE gateway.webhook_deliveries SET state = $1", state)
    await world.pool.execute("UPDATE gateway.webhook_lanes SET due_at = NULL, claim = NULL")


async def test_no_operator_sees_or_touches_another_s(world: World, events: HookWorld) -> None:
    mine, other = await world.casino("op1"), await world.casino("op2")
    endpoint = await added(mine)
    await events.closed("t1", 1)
    (one,) = (await mine.get("/v1/webhooks")).json()["items"]
    await over(world, "parked")
    assert (await other.get("/v1/webhooks")).json()["items"] == []
    assert (await other.get("/v1/webhook-endpoints")).json()["items"] == []
    body = {"request_id": "a"}
    foreign = [
        await other.get(f"/v1/webhooks/{one['webhook']}"),
        await other.post(f"/v1/webhooks/{one['webhook']}/resend", json=body),
        *[await other.post(f"/v1/webhook-endpoints/{endpoint}/{what}", json=body) for what in WHATS],
    ]
    unknown = [
        await other.get(f"/v1/webhooks/{uuid4()}"),
        await other.post(f"/v1/webhooks/{uuid4()}/resend", json=body),
        *[await other.post(f"/v1/webhook-endpoints/nowhere/{what}", json=body) for what in WHATS],
    ]
    for theirs, nobodys in zip(foreign, unknown, strict=True):
        assert code(theirs) == code(nobodys) == (404, "not_found")
        assert without_instance(theirs) == without_instance(nobodys)
    cursor = await other.get("/v1/webhooks", params={"after": one["webhook"]})
    assert code(cursor) == (400, "cursor_invalid")
    assert await events.count("parked") == 1


WHATS = ("remove", "secret", "resend-parked")


def without_instance(answer: httpx.Response) -> dict[str, object]:
    """A problem, but for the id under which it is logged."""
    return {name: value for name, value in answer.json().items() if name != "instance"}


async def test_a_webhook_s_id_that_is_none_is_not_found(world: World) -> None:
    casino = await world.casino("op1")
    assert code(await casino.get("/v1/webhooks/nonsense")) == (404, "not_found")
    answer = await casino.post("/v1/webhooks/nonsense/resend", json={"request_id": "a"})
    assert code(answer) == (404, "not_found")
    assert code(await casino.get("/v1/webhooks/%00")) == (404, "not_found")
    for query in ({"endpoint": "\x00"}, {"limit": 0}, {"limit": 201}, {"state": "x"}, {"type": "x"}):
        assert code(await casino.get("/v1/webhooks", params=query)) == (400, "request_invalid")
    answer = await casino.post("/v1/webhook-endpoints/%00/remove", json={"request_id": "a"})
    assert code(answer) == (400, "request_invalid")


async def test_a_webhook_of_a_removed_endpoint_is_cancelled(world: World, events: HookWorld) -> None:
    casino = await world.casino("op1")
    endpoint = await added(casino)
    await events.closed("t1", 1)
    async with world.pool.acquire() as connection:
        await webhook_endpoints.remove(connection, endpoint)
    (one,) = (await casino.get("/v1/webhooks", params={"state": "cancelled"})).json()["items"]
    assert (one["state"], one["next_try_at"]) == ("cancelled", None)
    assert (await casino.get("/v1/webhooks", params={"state": "queued"})).json()["items"] == []
    answer = await casino.post(f"/v1/webhooks/{one['webhook']}/resend", json={"request_id": "a"})
    assert code(answer) == (409, "webhook_endpoint_removed")


async def test_nobody_who_did_not_sign_sees_anything(world: World) -> None:
    stranger = await world.client()
    for path in ("/v1/webhooks", "/v1/webhook-endpoints", f"/v1/webhooks/{uuid4()}"):
        assert (await stranger.get(path)).status_code == 401
    for path in ("/v1/webhook-endpoints", "/v1/webhook-endpoints/x/remove", "/v1/webhooks/x/resend"):
        assert (await stranger.post(path, json={"request_id": "a"})).status_code in {400, 401}
