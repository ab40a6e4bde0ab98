"""Nobody learns who plays with another operator, nor whether a token, a table or a member of staff exists."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from servicekit.grpc import open_channel
from stack.project import project_folder
from tests.end_to_end.gateway.playing import connected, welcomed
from tests.end_to_end.gateway.processes import CURRENCY, SEAMLESS, TRANSFER, Edge, fresh
from tests.gateway.world import Signing
from upcard.gateway.v1 import staff_pb2
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.demo.pages import Forms, Staff
from upcard_operate.demo.staffing import Hire, add_staff
from upcard_platform.client import HmacSigner
from upcard_platform.models.sessions import EndSession, Launched

pytestmark = pytest.mark.asyncio(loop_scope="module")

API: Final = json.loads((project_folder() / "docs" / "openapi.json").read_text(encoding="utf-8"))
THEIRS: Final = "theirs"
"""A player of the other operator; nobody has ever been `NOBODY`."""
NOBODY: Final = "nobody"
TIMEOUT_S: Final = 60.0
BODIES: Final[dict[str, dict[str, object]]] = {
    "/v1/wallets/{player}/deposits": {"currency": CURRENCY, "amount": 100},
    "/v1/wallets/{player}/withdrawals": {"currency": CURRENCY, "amount": 100},
    "/v1/players/{player}/free-bets": {
        "currency": CURRENCY,
        "amount": 100,
        "wagers": ["ante"],
        "expires_at": "2999-01-01T00:00:00.000000Z",
    },
}
"""What goes with a `request_id`."""


def routes(name: str) -> list[tuple[str, str]]:
    """Method and path of every route that has this in its path."""
    return sorted(
        (method, path)
        for path, methods in API["paths"].items()
        for method in methods
        if f"{{{name}}}" in path
    )


@dataclass
class Asking:
    """The platform of one operator, which asks about another one's player."""

    client: httpx.AsyncClient
    theirs: Launched

    async def told(self, method: str, path: str, **names: str) -> tuple[int, Any]:
        """What a route says; `instance`, the id of this one answer, is left out."""
        target = path.format(**({"round_name": "t1.1", "free_bet": "fb-1"} | names))
        body = {"request_id": fresh(), **BODIES.get(path, {})} if method == "post" else None
        answer = await self.client.request(method, target, json=body, params={"currency": CURRENCY})
        found = answer.json()
        assert answer.status_code < 500, found
        found.pop("instance", None)
        return answer.status_code, found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def asking(edge: Edge) -> AsyncIterator[Asking]:
    theirs = await edge.launched(SEAMLESS, THEIRS)
    key = edge.keys[TRANSFER]
    auth = Signing(HmacSigner(key.key.key_id, key.secret), lambda: dt.datetime.now(dt.UTC))
    async with httpx.AsyncClient(base_url=edge.fleet.platform_url, auth=auth, timeout=TIMEOUT_S) as client:
        yield Asking(client, theirs)


@pytest.mark.parametrize(("method", "path"), routes("player"))
async def test_another_operators_player_is_nobody(asking: Asking, method: str, path: str) -> None:
    """By the platform's own id and by ours: the answer is that of a player who never was."""
    nobody = await asking.told(method, path, player=NOBODY)
    assert nobody[0] >= 400, nobody
    for player in (THEIRS, asking.theirs.player_ref, asking.theirs.account):
        status, found = await asking.told(method, path, player=player)
        said = json.dumps(found).replace(player, NOBODY)
        assert (status, json.loads(said)) == nobody


@pytest.mark.parametrize(("method", "path"), routes("session"))
async def test_another_operators_session_is_none(asking: Asking, method: str, path: str) -> None:
    nobody = await asking.told(method, path, session=fresh())
    assert nobody[0] >= 400, nobody
    assert await asking.told(method, path, session=asking.theirs.session) == nobody


async def test_a_token_that_is_wrong_used_or_over_is_told_the_same(edge: Edge) -> None:
    launched = await edge.launched(TRANSFER, "tokens")
    async with connected(edge.fleet.platform_url, launch_token=launched.launch_token) as wire:
        token = (await welcomed(wire))["session_token"]
    await edge.platforms[TRANSFER].sessions.end(launched.session, EndSession(request_id=fresh()))
    answers = {
        json.dumps(await ended(edge, **hello), sort_keys=True)
        for hello in (
            {"launch_token": launched.launch_token},
            {"launch_token": launched.launch_token[:-1] + "x"},
            {"launch_token": "made-up"},
        )
    }
    assert len(answers) == 1, answers
    made_up = {
        json.dumps(await ended(edge, session_token=one), sort_keys=True)
        for one in ("made-up", token[:-4] + "AAAA")
    }
    assert len(made_up) == 1, made_up


async def ended(edge: Edge, **hello: object) -> dict[str, object]:
    """How a connection ends that begins so."""
    async with connected(edge.fleet.platform_url, **hello) as wire:
        last = await wire.closed()
    assert last["type"] == "ended", last
    return {name: value for name, value in last.items() if name != "at"}


async def test_a_sign_in_does_not_tell_who_there_is(edge: Edge) -> None:
    """Who never was, and who is with a wrong password: the same page, but for what is new on each."""
    async with open_channel(
        edge.fleet.address("gateway"),
        audience="gateway",
        services=[staff_pb2.DESCRIPTOR.services_by_name["StaffService"]],
        signer=edge.fleet.gateway.signer(),
    ) as channel:
        await channel.wait_serving(TIMEOUT_S)
        known = await add_staff(StaffServiceStub(channel), Hire("known", ("support",), "looks things up"))
    pages = set()
    for name in (known.name, "nobody"):
        async with Staff(edge.fleet.platform_url) as stranger:
            given = {"name": name, "password": "not-the-password", "code": "123456"}
            answer = await stranger.submit("/staff/sign-in", "/staff/sign-in", given)
            fields = Forms(answer.text).fields["/staff/sign-in"]
            text = answer.text.replace(name, "")
            for fresh_one in (fields["csrf"], fields["request_id"]):
                text = text.replace(fresh_one, "")
            pages.add((answer.status_code, text))
    ((status, _),) = pages
    assert status == 401
