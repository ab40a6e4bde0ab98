"""Calls are let in that are signed, in time, once, from where they may come, and not too often."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import datetime as dt
from typing import Any

import httpx
import pytest

from tests.gateway.world import EUROS, World, open_world
from upcard_gateway.domain.operators import MOST_KEYS, Terms
from upcard_platform.signing import (
    KEY_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Signer,
    signed_headers,
    signed_text,
    stamp,
)

PATH = "/v1/operator"
TERMS = Terms("Casino", EUROS, rate_burst=10_000)


async def code_of(answer: httpx.Response) -> str:
    """The code of a problem, which is in its whole form."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["type"] == f"urn:upcard:problem:{body['code']}"
    assert {"title", "detail", "money", "retry"} <= set(body)
    code: str = body["code"]
    return code


def headers_of(world: World, signer: Signer, target: str = PATH, **late: float) -> dict[str, str]:
    """Headers of a signed GET, signed so many seconds late."""
    now = world.clock() + dt.timedelta(seconds=late.get("late", 0.0))
    return signed_headers(signer, "GET", target, b"", now)


async def test_who_signs_rightly_is_told_who_it_is(world: World) -> None:
    casino = await world.casino("op1", environment="sandbox", wallet="seamless")
    answer = await casino.get(PATH)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["operator"], found["environment"], found["wallet"]) == ("op1", "sandbox", "seamless")
    assert [one["currency"] for one in found["currencies"]] == ["EUR", "GBP"]
    assert found["keys"][0]["key"] == found["signed_with"]


async def test_a_key_of_rsa_signs_too_and_two_keys_are_in_force_at_a_time(world: World) -> None:
    await world.register("op1")
    old, new = await world.hmac_key("op1"), await world.rsa_key("op1")
    for signer in (old, new):
        answer = await (await world.client(signer)).get(PATH)
        assert answer.json()["signed_with"] == signer.key_id, answer.text
    await world.revoke("op1", old.key_id)
    assert await code_of(await (await world.client(old)).get(PATH)) == "key_unknown"
    assert (await (await world.client(new)).get(PATH)).status_code == 200


async def test_an_operator_has_so_many_keys_at_the_most(world: World) -> None:
    await world.register("op1")
    for _ in range(MOST_KEYS):
        await world.hmac_key("op1")
    with pytest.raises(AssertionError, match="too_many_keys"):
        await world.hmac_key("op1")


@pytest.mark.parametrize(("late", "let_in"), [(-59.9, True), (59.9, True), (-60.1, False), (60.1, False)])
async def test_a_timestamp_is_good_for_a_minute_either_way(world: World, late: float, let_in: bool) -> None:  # noqa: FBT001 - one of the cases above
    await world.register("op1")
    headers = headers_of(world, await world.hmac_key(), late=late)
    answer = await (await world.client()).get(PATH, headers=headers)
    if let_in:
        assert answer.status_code == 200, answer.text
    else:
        assert await code_of(answer) == "timestamp_refused"
        assert answer.json()["our_time"].startswith("2026-01-31T12:00:00")


async def test_the_same_signed_call_is_taken_once_also_when_both_come_at_once(world: World) -> None:
    await world.register("op1")
    headers = headers_of(world, await world.hmac_key())
    client = await world.client()
    answers = await asyncio.gather(*(client.get(PATH, headers=headers) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401, 401]
    assert {await code_of(one) for one in answers if one.status_code == 401} == {"request_replayed"}
    # Written in another way it is the same call.
    assert await code_of(await client.get(PATH, headers=headers)) == "request_replayed"


async def test_the_same_signed_call_is_taken_by_one_of_all_instances(
    world: World, service_database: str
) -> None:
    await world.register("op1")
    headers = headers_of(world, await world.hmac_key())
    async with open_world(service_database) as another:
        clients = [await world.client(), await another.client()]
        answers = await asyncio.gather(*(client.get(PATH, headers=headers) for client in clients))
    assert sorted(answer.status_code for answer in answers) == [200, 401]


async def test_what_came_is_kept_for_as_long_as_it_would_be_good(world: World) -> None:
    await world.register("op1")
    signer = await world.hmac_key()
    headers = headers_of(world, signer, late=59)
    client = await world.client()
    assert (await client.get(PATH, headers=headers)).status_code == 200
    world.clock.move(118)
    await world.signed.prune(world.clock())
    assert await code_of(await client.get(PATH, headers=headers)) == "request_replayed"
    world.clock.move(200)
    assert await world.signed.prune(world.clock()) > 0
    assert await world.signed.prune(world.clock()) == 0
    assert await code_of(await client.get(PATH, headers=headers)) == "timestamp_refused"


def other_bytes(headers: dict[str, str]) -> dict[str, str]:
    """The signature with one bit turned."""
    raw = bytearray(base64.b64decode(headers[SIGNATURE_HEADER]))
    raw[3] ^= 1
    return {**headers, SIGNATURE_HEADER: base64.b64encode(bytes(raw)).decode()}


@pytest.mark.parametrize("algorithm", ["hmac", "rsa"])
async def test_the_signature_is_of_this_call_and_no_other(world: World, algorithm: str) -> None:
    await world.register("op1")
    signer: Signer = await (world.hmac_key() if algorithm == "hmac" else world.rsa_key())
    client = await world.client()
    target = f"{PATH}?a=1&b=%20"
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", f"{PATH}?a=2&b=%20", {}),
        ("GET", f"{PATH}?b=%20&a=1", {}),
        ("GET", PATH, {}),
        ("POST", target, {}),
        ("GET", target, {"content": b"{}", "headers": {"content-type": "application/json"}}),
    ]
    for method, path, more in cases:
        headers = headers_of(world, signer, target) | more.pop("headers", {})
        answer = await client.request(method, path, headers=headers, **more)
        expected = {"signature_wrong"} if method == "GET" else {"method_not_allowed"}
        assert await code_of(answer) in expected, (method, path)
    answer = await client.get(target, headers=other_bytes(headers_of(world, signer, target)))
    assert await code_of(answer) == "signature_wrong"
    later = {
        **headers_of(world, signer, target),
        TIMESTAMP_HEADER: stamp(world.clock() + dt.timedelta(seconds=1)),
    }
    assert await code_of(await client.get(target, headers=later)) == "signature_wrong"
    assert (await client.get(target, headers=headers_of(world, signer, target))).status_code == 200


async def test_a_key_of_another_operator_is_that_operators(world: World) -> None:
    one, other = await world.casino("op1"), await world.casino("op2")
    assert (await one.get(PATH)).json()["operator"] == "op1"
    assert (await other.get(PATH)).json()["operator"] == "op2"


@pytest.mark.parametrize(
    "change",
    [
        {KEY_HEADER: None},
        {KEY_HEADER: ""},
        {KEY_HEADER: "k" * 65},
        {TIMESTAMP_HEADER: None},
        {TIMESTAMP_HEADER: "1769860800"},
        {TIMESTAMP_HEADER: "2026-01-31T12:00:00Z"},
        {TIMESTAMP_HEADER: "2026-01-31T12:00:00.000000+00:00"},
        {TIMESTAMP_HEADER: "2026-02-31T12:00:00.000000Z"},
        {SIGNATURE_HEADER: None},
        {SIGNATURE_HEADER: ""},
        {SIGNATURE_HEADER: "not base64!"},
        {SIGNATURE_HEADER: "YQ"},
        {SIGNATURE_HEADER: "YR=="},
        {SIGNATURE_HEADER: "A" * 4_000},
    ],
)
async def test_a_call_that_is_not_signed_in_the_one_form(world: World, change: dict[str, str | None]) -> None:
    await world.register("op1")
    headers = {**headers_of(world, await world.hmac_key()), **change}
    sent = {name: value for name, value in headers.items() if value is not None}
    assert await code_of(await (await world.client()).get(PATH, headers=sent)) == "unauthenticated"


async def test_each_header_is_there_once(world: World) -> None:
    await world.register("op1")
    headers = [*headers_of(world, await world.hmac_key()).items()]
    for twice in headers:
        answer = await (await world.client()).get(PATH, headers=[*headers, twice])
        assert await code_of(answer) == "unauthenticated"


async def test_calls_are_taken_from_listed_networks_only(world: World) -> None:
    await world.register(
        "op1", terms=dataclasses.replace(TERMS, addresses=("198.51.100.0/24", "2001:db8::/32"))
    )
    signer = await world.hmac_key()
    for address, let_in in (
        ("198.51.100.7", True),
        ("::ffff:198.51.100.7", True),
        ("2001:db8::1", True),
        ("203.0.113.7", False),
        ("2001:db9::1", False),
        ("not an address", False),
    ):
        answer = await (await world.client(signer, address=address)).get(PATH)
        assert (answer.status_code == 200) is let_in, (address, answer.text)
        if not let_in:
            assert (await code_of(answer), answer.status_code) == ("address_refused", 403)
    # What a client says of itself is not believed.
    far = await world.client(signer, address="203.0.113.7")
    answer = await far.get(PATH, headers={"X-Forwarded-For": "198.51.100.7"})
    assert await code_of(answer) == "address_refused"


async def test_behind_a_proxy_of_ours_the_clients_address_counts(service_database: str) -> None:
    async with open_world(service_database, trusted_proxies=("10.0.0.0/8",)) as world:
        await world.register("op1", terms=dataclasses.replace(TERMS, addresses=("198.51.100.0/24",)))
        proxied = await world.client(await world.hmac_key(), address="10.0.0.1")
        for forwarded, status in (("203.0.113.7, 198.51.100.7", 200), ("198.51.100.7, 203.0.113.7", 403)):
            answer = await proxied.get(PATH, headers={"X-Forwarded-For": forwarded})
            assert answer.status_code == status, (forwarded, answer.text)


async def test_a_closed_operator_is_told_so_and_nobody_else_is(world: World) -> None:
    casino = await world.casino("op1", terms=TERMS)
    await world.change("op1", dataclasses.replace(TERMS, closed=True))
    assert await code_of(await casino.get(PATH)) == "operator_closed"
    wrong = await (await world.client()).get(
        PATH, headers=other_bytes(headers_of(world, await world.hmac_key()))
    )
    assert await code_of(wrong) == "signature_wrong"


async def test_each_key_has_a_rate_of_its_own(world: World) -> None:
    await world.register("op1", terms=dataclasses.replace(TERMS, rate_per_s=1, rate_burst=3))
    one, other = await world.client(await world.hmac_key()), await world.client(await world.hmac_key())
    codes = [(await one.get(PATH)).status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    limited = await one.get(PATH)
    assert await code_of(limited) == "rate_limited"
    assert int(limited.headers["retry-after"]) >= 1
    assert limited.json()["retry"] == "same_request"
    assert (await other.get(PATH)).status_code == 200


async def test_a_call_that_is_refused_takes_nothing_from_the_keys_rate(world: World) -> None:
    await world.register("op1", terms=dataclasses.replace(TERMS, rate_per_s=1, rate_burst=1))
    signer = await world.hmac_key()
    client = await world.client()
    for _ in range(3):
        answer = await client.get(PATH, headers=other_bytes(headers_of(world, signer)))
        assert await code_of(answer) == "signature_wrong"
    assert (await (await world.client(signer)).get(PATH)).status_code == 200


async def test_a_call_that_comes_again_takes_nothing_from_the_keys_rate(world: World) -> None:
    await world.register("op1", terms=dataclasses.replace(TERMS, rate_per_s=1, rate_burst=3))
    signer = await world.hmac_key()
    headers, client = headers_of(world, signer), await world.client()
    assert (await client.get(PATH, headers=headers)).status_code == 200
    codes = {await code_of(await client.get(PATH, headers=headers)) for _ in range(6)}
    assert codes == {"request_replayed"}
    assert (await (await world.client(signer)).get(PATH)).status_code == 200


async def test_whoever_is_refused_again_and_again_is_told_to_wait(world: World) -> None:
    casino = await world.casino("op1", terms=TERMS)
    stranger = await world.client(address="203.0.113.9")
    codes = [await code_of(await stranger.get(PATH)) for _ in range(140)]
    assert codes[0] == "unauthenticated"
    assert codes[-1] == "rate_limited"
    assert (await casino.get(PATH)).status_code == 200


def test_what_is_signed_is_this_text() -> None:
    text = signed_text("post", "/v1/x?a=1", "2026-01-31T12:00:00.000000Z", b"{}")
    assert text == (
        b"POST\n/v1/x?a=1\n2026-01-31T12:00:00.000000Z\n"
        b"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )
