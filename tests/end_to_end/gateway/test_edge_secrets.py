"""What the gateway and the services write down has no token, password, key, chat line or name in it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx
import pytest

from servicekit.grpc import open_channel
from tests.end_to_end.gateway.dealing import ScriptedTable
from tests.end_to_end.gateway.playing import at_table, connected, welcomed
from tests.end_to_end.gateway.processes import CURRENCY, SEAMLESS, TRANSFER, Edge, fresh
from upcard.gateway.v1 import staff_pb2
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.demo.pages import Staff
from upcard_operate.demo.staffing import Hire, add_staff, enrol
from upcard_platform.client import HmacSigner, Platform, Refused
from upcard_platform.models.sessions import Launch
from upcard_platform.models.wallets import Deposit
from upcard_platform.play import SUBPROTOCOL

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLE: Final = "t-secrets"
TIMEOUT_S: Final = 60.0
CHAT: Final = "what-was-said-at-the-table"
NICKNAME: Final = "Nick-of-a-person"
STAFF: Final = staff_pb2.DESCRIPTOR.services_by_name["StaffService"]
DECK: Final = {"deck": "deck-secret"}
SHORTEST: Final = 8
"""Shorter texts would be found by chance."""


def shapes(secret: str | bytes) -> Iterator[str]:
    """A secret as a log might have it."""
    raw = secret if isinstance(secret, bytes) else secret.encode()
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    yield raw.hex()
    if isinstance(secret, str):
        yield from (secret, quote(secret, safe=""))


async def test_nothing_secret_is_written_down(edge: Edge) -> None:
    url = edge.fleet.platform_url
    secrets: dict[str, str | bytes] = {"chat": CHAT, "nickname": NICKNAME}
    secrets |= {f"key of {operator}": key.secret for operator, key in edge.keys.items()}
    table = ScriptedTable(edge.casino, TABLE)
    await table.open()
    for operator in (TRANSFER, SEAMLESS):
        wish = Launch(
            request_id=fresh(), player="secret-one", nickname=NICKNAME, currency=CURRENCY, country="NL"
        )
        launched = await edge.platforms[operator].sessions.launch(wish)
        secrets[f"launch token of {operator}"] = launched.launch_token
        secrets[f"link of {operator}"] = launched.launch_url
        async with connected(url, launch_token=launched.launch_token, table=TABLE) as wire:
            secrets[f"session token of {operator}"] = token = (await welcomed(wire))["session_token"]
            await at_table(wire)
            assert (await wire.say("chat", text=CHAT))["accepted"]
            await wire.say("tip", amount=100)
        async with connected(url, session_token=token, table=TABLE) as wire:
            await at_table(wire)
        # Wrong ones too: what is mistyped is nearly right.
        for hello in ({"launch_token": launched.launch_token}, {"session_token": token + "x"}):
            async with connected(url, **hello) as wire:
                assert (await wire.closed())["type"] == "ended"
        secrets[f"mistyped token of {operator}"] = token + "x"
    await mistaken(edge, secrets)
    await staff_signs_in(edge, secrets)
    await edge.platforms[TRANSFER].wallets.deposit(
        "secret-one", Deposit(request_id=fresh(), currency=CURRENCY, amount=100)
    )
    await asyncio.to_thread(not_written, edge, secrets)


async def staff_signs_in(edge: Edge, secrets: dict[str, str | bytes]) -> None:
    """A member of staff enrols, mistypes a password, and does something."""
    fleet = edge.fleet
    async with open_channel(
        fleet.address("gateway"), audience="gateway", services=[STAFF], signer=fleet.gateway.signer()
    ) as channel:
        await channel.wait_serving(TIMEOUT_S)
        hire = Hire("secretive", ("dealer",), "deals")
        sign_in = await add_staff(StaffServiceStub(channel), hire)
    secrets["one-time password"] = sign_in.password
    async with Staff(fleet.platform_url) as member:
        await enrol(member, sign_in)
        secrets |= {"password": sign_in.password, "second factor": sign_in.secret}
        secrets |= {f"cookie {name}": value for name, value in member.client.cookies.items()}
        await member.call("/staff/api/dealer/tables")
        await member.do(f"/staff/api/dealer/tables/{TABLE}/introduce_deck", DECK | {"request_id": fresh()})
    async with Staff(fleet.platform_url) as stranger:
        secrets["mistyped password"] = mistyped = sign_in.password + "x"
        given = {"name": sign_in.name, "password": mistyped, "code": "000000"}
        answer = await stranger.submit("/staff/sign-in", "/staff/sign-in", given)
        assert answer.status_code == 401


async def mistaken(edge: Edge, secrets: dict[str, str | bytes]) -> None:
    """Calls with something wrong about them, each with a secret in a place where it does not belong."""
    url = edge.fleet.platform_url
    secrets["wrong key"] = wrong = b"a-secret-that-nobody-at-all-has-ever-had"
    async with Platform(url, HmacSigner("k-nobody", wrong)) as platform:
        with pytest.raises(Refused, match="key_unknown"):
            await platform.operator()
    secrets["token in the address"] = stray = "stray-token-in-an-address"
    secrets["password of nobody"] = password = f"{stray}-password"
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S) as client:
        for path in (f"/play?token={stray}", f"/r/{stray}", f"/v1/sessions/{stray}", f"/staff?next={stray}"):
            assert (await client.get(path)).status_code < 500, path
        for path in ("/v1/launch", "/staff/sign-in", "/staff/api/dealer/tables/t1/sign_in"):
            answers = [
                await client.post(path, json={"token": stray, "password": password}),
                await client.post(path, data={"name": "nobody", "password": password, "token": stray}),
                await client.post(path, content=f'{{"password": "{password}'.encode()),
            ]
            assert all(answer.status_code < 500 for answer in answers), path
    async with connected(url) as wire:  # a hello without anything
        await wire.socket.send(f'{{"type": "{stray}", "id": "{password}')
        await wire.closed()
    assert SUBPROTOCOL not in secrets


def not_written(edge: Edge, secrets: dict[str, str | bytes]) -> None:
    """AssertionError: a log has one of these, in some shape."""
    logs: dict[Path, str] = {
        process.log: process.log.read_text(encoding="utf-8", errors="replace")
        for process in (*edge.fleet.processes.values(), *(one.process for one in edge.fleet.further))
    }
    assert all(logs.values()), "each of them says something"
    for what, secret in secrets.items():
        for shape in shapes(secret):
            assert len(shape) >= SHORTEST
            found = [log.name for log, text in logs.items() if shape in text]
            assert not found, f"{what} is in {found}"
