"""Every route says who may call it, and lets in nobody else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fastapi.routing import iter_route_contexts
from starlette.routing import WebSocketRoute

from tests.gateway.http.authorisation import ROUTES
from tests.gateway.pages.authorisation import PAGES
from tests.gateway.world import World
from upcard_gateway.entrypoints.http.app import http_app
from upcard_platform.signing import HmacSigner


def routes_of(world: World) -> Iterator[str]:
    """Method and path template of each route, as the table names them; also of what nobody documents."""
    for route in iter_route_contexts(http_app(world.edge).routes):
        if isinstance(route.original_route, WebSocketRoute):
            continue  # tests/gateway/play say who may connect
        assert route.methods, f"what is {route!r}?"
        for method in sorted(route.methods - {"HEAD", "OPTIONS"}):
            yield f"{method} {route.path}"


def asked(line: str) -> tuple[str, str]:
    """A method and a path of a line of the table, with ids in place of names."""
    method, _, path = line.partition(" ")
    return method, re.sub(r"\{[^}]*\}", "x1", path)


async def test_the_table_has_every_route(world: World) -> None:
    there = set(routes_of(world))
    listed = {*ROUTES, *PAGES}
    assert there == listed, f"not listed: {there - listed}; gone: {listed - there}"


async def test_a_signed_route_lets_nobody_else_in(world: World) -> None:
    await world.register("op1")
    wrong = HmacSigner((await world.hmac_key()).key_id, b"w" * 32)
    unknown = HmacSigner("k-unknown", b"w" * 32)
    revoked = await world.hmac_key()
    await world.revoke("op1", revoked.key_id)
    cases: tuple[tuple[HmacSigner | None, str], ...] = (
        (None, "unauthenticated"),
        (wrong, "signature_wrong"),
        (unknown, "key_unknown"),
        (revoked, "key_unknown"),
    )
    for signer, code in cases:
        for number, line in enumerate(sorted(line for line, who in ROUTES.items() if who == "signed")):
            method, path = asked(line)
            # From addresses of their own: whoever is refused again and again is told less.
            client = await world.client(signer, address=f"198.51.{number}.7")
            answer = await client.request(method, path, json=None if method == "GET" else {})
            assert answer.status_code == 401, (line, answer.text)
            assert (answer.json()["code"], answer.json()["money"]) == (code, "none_moved"), (
                line,
                answer.text,
            )


async def test_a_route_for_anyone_asks_for_no_signature(world: World) -> None:
    for line in sorted(line for line, who in ROUTES.items() if who == "anyone"):
        method, path = asked(line)
        answer = await (await world.client()).request(method, path, json=None if method == "GET" else {})
        assert answer.status_code not in {401, 403}, (line, answer.text)
