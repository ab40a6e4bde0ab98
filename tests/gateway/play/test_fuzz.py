"""Whatever is said, the connection answers in its own words or ends with one, and nothing of ours breaks."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

from websockets.exceptions import ConnectionClosed

from tests.gateway.play.behind import TABLE, Gateway, TableLog, served
from tests.gateway.world import open_world
from upcard_platform.play import ASKED

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
