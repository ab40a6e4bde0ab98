"""Whatever is said, the connection answers in its own words or ends with one, and nothing of ours breaks."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import grpc.aio
from websockets.exceptions import ConnectionClosed

from tests.gateway.game.chatting import table_chat
from tests.gateway.game.owners import answered
from tests.gateway.play.behind import TABLE, Gateway, OpensAccounts, TableLog, served
from tests.gateway.sessions.behind import launched
from tests.gateway.world import fake_services, open_world
from tests.table.edges.world import Instance, Played, PlayedTips, no_database, open_instance
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2
from upcard_gateway.entrypoints.play.commands import commands_of
from upcard_platform.play import ASKED, TOLD, Answer, Told

_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**53, 2**64, 1e308, 0.5, "", "x", "\u0000", "\ud800", "💥" * 50,
    "a" * 9_000, [], {}, [[[[]]]], {"a": {"b": {}}}, "t1",
    "'; DROP TABLE x; --", "<script>", "../..", "-1", "NaN",
]  # fmt: skip
_RAW = [
    b"", b"{", b"[]", b"null", b"1", b'"hello"', b"{}", b'{"type":1}', b'{"type":"nothing","id":"a"}',
    b"[" * 8_000, b'{"a":' * 2_000, b'{"type":"ping"}', b'{"type":"ping","id":"a","id":"b"}',
    b'{"type":"ping","id":"a b"}', b"NaN", b'{"type":"ping","id":NaN}',
    b'\xef\xbb\xbf{"type":"ping","id":"a"}',
]  # fmt: skip
_TYPES = sorted(
    ASKED.json_schema()["discriminator"]["mapping"],
)
_FIELDS = (
    "id", "table", "round", "placements", "box", "wager", "amount", "kind", "positions", "choice",
    "insurance", "buy", "text", "after", "since", "until", "resume", "view", "launch_token", "extra",
)  # fmt: skip
ROUNDS = 400
_STAKES = ("bet", "withdraw", "undo", "clear", "double", "rebet", "option", "final", "purchase")


async def test_no_message_breaks_anything(service_database: str) -> None:
    chance = random.Random(20_260_131)
    async with (
        open_world(
            service_database,
            play_messages_per_s=1_000,
            play_messages_burst=10_000,
            play_views_per_h=10_000,
            play_address_connections_max=10_000,
        ) as world,
        served(world, TableLog()) as gateway,
    ):
        talk = await gateway.opened(view=True, table=TABLE)
        await talk.hears("window")
        for number in range(ROUNDS):
            raw = _RAW[number] if number < len(_RAW) else _made(chance)
            try:
                await talk.socket.send(raw if number % 7 else raw.decode("utf-8", "replace"))
                told = await talk.hears("error", "answer", "pong", "ended")
            except ConnectionClosed:
                told = {"type": "ended", "reason": "closed"}
            assert told.get("code") != "internal", raw[:200]
            assert told.get("reason") != "internal", raw[:200]
            if told["type"] == "ended":
                talk = await gateway.opened(view=True, table=TABLE)
                await talk.hears("window")
        assert (await talk.asked("ping"))["type"] == "pong"


async def test_no_hello_breaks_anything(service_database: str) -> None:
    chance = random.Random(7)
    async with (
        open_world(service_database, play_views_per_h=10_000, play_address_connections_max=10_000) as world,
        served(world, TableLog()) as gateway,
    ):
        for number in range(60):
            said = _RAW[number] if number < len(_RAW) else _made(chance, "hello")
            await _said(gateway, said)


class Away:
    """A service that nobody reaches."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*_: object, **__: object) -> Any:
            raise grpc.aio.AioRpcError(
                grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), name
            )

        return call


class OnlyOpensAccounts(Away, OpensAccounts):
    """A wallet that opens accounts, and answers nothing else."""


class ItsTables(Away):
    """The table service of an instance without a database that nobody watches: tips are not given there."""

    def __init__(self, instance: Instance) -> None:
        names = (method.name for method in table_pb2.DESCRIPTOR.services_by_name["TableService"].methods)
        for name in names:
            if name not in ("Tip", "ListTables", "GetRound"):
                setattr(self, name, getattr(instance.table, name))

    async def Tip(self, request: table_pb2.TipRequest, **_: object) -> table_pb2.TipResponse:  # noqa: N802 - the name of the call
        """Nobody is there to take it."""
        assert request.amount > 0
        return table_pb2.TipResponse(refusal=Refusal(reason="dealer_missing"))


async def test_no_message_of_a_player_breaks_anything(service_database: str) -> None:
    """What messages do is the real thing, on the table service's real calls; each answer is as promised."""
    chance = random.Random(20_260_201)
    async with open_instance(no_database(), Played(answered, {TABLE}), PlayedTips()) as instance:
        away = Away()
        services = fake_services(
            wallet=OnlyOpensAccounts(), bonus=away, history=away, table=ItsTables(instance)
        )
        async with open_world(
            service_database, services=services, play_messages_per_s=1_000, play_messages_burst=10_000
        ) as world:
            doing = commands_of(world.edge, table_chat(world))
            async with served(world, TableLog(), doing=doing) as gateway:
                told = await _talked(gateway, chance)
    answers = [one for one in told if isinstance(one, Answer)]
    assert {one.to for one in answers} == set(_TYPES) - {"hello", "ping", "end"}
    for type_ in _STAKES:
        of_type = [one for one in answers if one.to == type_]
        assert any(one.accepted for one in of_type), type_
        assert any(not one.accepted for one in of_type), type_
    assert not [one for one in told if "internal" in (getattr(one, "code", ""), getattr(one, "reason", ""))]
    assert "id_reused" in {one.reason for one in answers}
    assert len(instance.tables.calls) > 50


async def _talked(gateway: Gateway, chance: random.Random) -> list[Told]:
    """A player says a lot: all that they were told, read as what is promised."""
    found = await launched(await gateway.world.casino("op1"))
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    token = (await talk.hears("welcome"))["session_token"]
    heard = talk.heard
    for number in range(2 * ROUNDS):
        if number % 20 == 0:
            await talk.asked("join", table=TABLE)
        made = _made(chance) if chance.random() < 0.3 else _meant(chance)
        try:
            await talk.socket.send(made.decode("utf-8", "replace"))
            told = await talk.hears("error", "answer", "pong", "ended")
        except ConnectionClosed:
            told = {"type": "ended", "reason": "closed"}
        if told["type"] == "ended":
            talk = await gateway.opened(session_token=token, table=TABLE)
            await talk.hears("welcome")
            talk.heard = heard = [*heard, *talk.heard]
    assert (await talk.asked("ping"))["type"] == "pong"
    return [TOLD.validate_python(one) for one in heard]


def _meant(chance: random.Random) -> bytes:
    """A message that could be meant, with something else in it now and then; some ids come again."""
    type_ = chance.choice([one for one in _TYPES if one not in ("hello", "end", "join", "leave")])
    message: dict[str, Any] = {"type": type_, "id": f"w{chance.randrange(600)}"}
    likely: dict[str, list[Any]] = {
        "round": [0, 7, 7, 8],
        "box": [1, 2, 7],
        "wager": ["ante", "bonus_player", "bonus_dealer"],
        "kind": ["bet", "sixth", "exchange", "fold"],
        "positions": [[], [0], [4, 0], [1, 1]],
        "choice": ["bet", "stand", "fold"],
        "insurance": [0, 0, 50],
        "buy": [True, False],
        "amount": [1, 100],
        "text": ["hello", "  ", "x" * 200],
    }
    wanted = {
        "withdraw": ("box", "wager"),
        "option": ("box", "kind", "positions"),
        "final": ("box", "choice", "insurance"),
        "purchase": ("box", "buy"),
        "tip": ("amount",),
        "chat": ("text",),
    }
    fields = (*wanted.get(type_, ()), *(("round",) if type_ in _STAKES else ()))
    message |= {field: chance.choice(likely[field]) for field in fields}
    if type_ == "bet":
        amount = chance.choice([1, 2, 3, 100, 100, 10_000])
        message["placements"] = [{"box": 1, "wager": chance.choice(likely["wager"]), "amount": amount}]
    if fields and chance.random() < 0.1:
        message[chance.choice(fields)] = chance.choice(_VALUES)
    return json.dumps(message).encode()


async def _said(gateway: Gateway, said: bytes) -> None:
    socket = await gateway.connected()
    await socket.send(said)
    told: dict[str, Any] = {"type": "closed"}
    with contextlib.suppress(ConnectionClosed):
        told = json.loads(await socket.recv())
    if told["type"] == "closed":
        assert socket.close_code in (1007, 1009), said[:200]
        return
    assert told["type"] in ("ended", "welcome"), said[:200]
    assert told.get("reason") != "internal", said[:200]
    await socket.close()


def _made(chance: random.Random, type_: str | None = None) -> bytes:
    """A message that is wrong in some way, or is not."""
    message: dict[str, Any] = {"type": type_ or chance.choice(_TYPES), "id": f"m{chance.randrange(10**9)}"}
    if type_ is None and message["type"] == "end":
        message["type"] = "ping"
    for field in chance.sample(_FIELDS, chance.randrange(6)):
        message[field] = chance.choice(_VALUES)
    if chance.random() < 0.3:
        message["placements"] = [
            {"box": chance.choice(_VALUES), "wager": "ante", "amount": chance.choice(_VALUES)}
        ]
    text = json.dumps(message).encode()
    if chance.random() < 0.1:
        cut = chance.randrange(len(text))
        text = text[:cut] + bytes([chance.randrange(256)]) + text[cut:]
    return text[:16_000]
