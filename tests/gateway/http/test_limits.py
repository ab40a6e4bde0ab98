"""Sizes, rates and addresses: what keeps one caller from taking what all need."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.gateway.world import World, open_world
from upcard_gateway.entrypoints.http.edge import Signed
from upcard_gateway.entrypoints.http.limits import RateLimit, client_address

DEADLINE_S = 60


class Clock:
    """Seconds that go on by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        """What it shows."""
        return self.now_s


def test_a_bucket_gives_its_burst_then_its_rate() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    assert [limit.take("k", 2.0, 3) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert limit.take("k", 2.0, 3) == pytest.approx(0.5)
    clock.now_s += 0.5
    assert limit.take("k", 2.0, 3) == 0.0
    assert limit.take("k", 2.0, 3) > 0
    clock.now_s += 1_000
    assert [limit.take("k", 2.0, 3) for _ in range(4)].count(0.0) == 3


def test_a_clock_that_stands_gives_nothing_and_a_refusal_takes_nothing() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    limit.take("k", 1.0, 1)
    waits = {limit.take("k", 1.0, 1) for _ in range(5)}
    assert waits == {1.0}


def test_names_are_bounded_the_longest_unused_is_forgotten() -> None:
    limit = RateLimit(Clock(), most_names=2)
    for name in ("a", "b"):
        limit.take(name, 1.0, 1)
    assert limit.take("a", 1.0, 1) > 0
    limit.take("c", 1.0, 1)
    assert limit.take("a", 1.0, 1) > 0
    assert limit.take("b", 1.0, 1) == 0.0


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.7", [], "203.0.113.7"),
        ("203.0.113.7", ["198.51.100.7"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["192.0.2.1, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["192.0.2.1", "198.51.100.7, 10.0.0.2"], "198.51.100.7"),
        ("10.0.0.1", ["nonsense"], None),
        ("10.0.0.1", [], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("", [], None),
    ],
)
def test_where_a_call_comes_from(peer: str, forwarded: list[str], expected: str | None) -> None:
    found = client_address(peer, forwarded, [ipaddress.ip_network("10.0.0.0/8")])
    assert found == (ipaddress.ip_address(expected) if expected else None)


async def test_bodies_and_headers_are_bounded(service_database: str) -> None:
    async with open_world(service_database, http_body_max_bytes=2_048) as world:
        casino = await world.casino()
        headers = {"content-type": "application/json"}
        answer = await casino.post("/v1/sessions", content=b"x" * 2_049, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")

        async def chunks() -> object:
            for _ in range(4):
                yield b"x" * 1_024

        unsigned = await world.client()
        answer = await unsigned.post("/v1/sessions", content=chunks(), headers=headers)  # type: ignore[arg-type]  # bytes in turn
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        answer = await unsigned.get("/v1/operator", headers={"x-long": "a" * 17_000})
        assert (answer.status_code, answer.json()["code"]) == (431, "headers_too_large")
        answer = await unsigned.get("/v1/operator", params={"a": "b" * 5_000})
        assert (answer.status_code, answer.json()["code"]) == (431, "headers_too_large")
        answer = await unsigned.post(
            "/v1/sessions", content=b"{}", headers={"content-length": "9" * 30, **headers}
        )
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("given", [{}, {"content-type": "text/plain"}, {"content-type": "application/jsonx"}])
async def test_a_body_is_json(world: World, given: dict[str, str]) -> None:
    answer = await (await world.client()).post("/v1/sessions", content=b"{}", headers=given)
    assert (answer.status_code, answer.json()["code"]) == (415, "media_type_refused")


async def test_too_many_calls_at_a_time_are_refused(service_database: str) -> None:
    async with open_world(service_database, http_calls_max=1) as world:
        casino = await world.casino()
        inside: list[httpx.Response] = []
        original = world.edge.operators.signing_key

        async def slow(key_id: str) -> object:
            inside.append(await (await world.client()).get("/v1/operator"))
            return await original(key_id)

        object.__setattr__(world.edge.operators, "signing_key", slow)
        assert (await casino.get("/v1/operator")).status_code == 200
        assert [(one.status_code, one.json()["code"]) for one in inside] == [(503, "overloaded")]
        assert inside[0].headers["retry-after"] == "1"


async def test_every_answer_carries_what_browsers_need_and_an_id(world: World) -> None:
    client = await world.client()
    for path in ("/v1/operator", "/nowhere", "/v1/openapi.json"):
        answer = await client.get(path, headers={"upcard-correlation-id": "c-7"})
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["upcard-correlation-id"] == "c-7"
    strange = await client.get("/nowhere", headers={"upcard-correlation-id": "a b\tc"})
    assert strange.headers["upcard-correlation-id"] not in {"a b\tc", ""}
    assert (strange.status_code, strange.json()["code"]) == (404, "not_found")
    wrong = await client.delete("/v1/operator")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in wrong.headers["allow"]


async def test_an_operator_has_a_part_of_all_calls_and_no_more(
    service_database: str,
) -> None:
    async with open_world(service_database, http_calls_max=8) as world:
        greedy, other = await world.casino("op1"), await world.casino("op2")
        go, inside = asyncio.Event(), asyncio.Semaphore(0)
        original = world.edge.operators.all

        @world.app.get("/v1/slow")
        async def slow(_: Signed) -> dict[str, int]:
            inside.release()
            await go.wait()
            return {"operators": len(await original())}

        calls = [asyncio.ensure_future(greedy.get("/v1/slow")) for _ in range(2)]
        async with asyncio.timeout(DEADLINE_S):
            for _ in calls:
                await inside.acquire()
        refused = await greedy.get("/v1/slow")
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert (await other.get("/v1/operator")).status_code == 200
        go.set()
        assert [(await call).status_code for call in calls] == [200, 200]
        assert (await greedy.get("/v1/operator")).status_code == 200


async def test_whoever_sends_no_body_takes_no_call_of_others(service_database: str) -> None:
    async with open_world(service_database, http_calls_max=1) as world:
        casino = await world.casino()
        go, begun = asyncio.Event(), asyncio.Semaphore(0)

        async def never() -> AsyncIterator[bytes]:
            begun.release()
            await go.wait()
            yield b"{}"

        unsigned = await world.client()
        headers = {"content-type": "application/json"}
        waiting = [
            asyncio.ensure_future(unsigned.post("/v1/sessions", content=never(), headers=headers))
            for _ in range(16)
        ]
        async with asyncio.timeout(DEADLINE_S):
            for _ in waiting:
                await begun.acquire()
        one_more = await unsigned.post("/v1/sessions", content=b"{}", headers=headers)
        assert (one_more.status_code, one_more.json()["code"]) == (503, "overloaded")
        go.set()
        await asyncio.gather(*waiting)
        assert (await casino.get("/v1/operator")).status_code == 200
