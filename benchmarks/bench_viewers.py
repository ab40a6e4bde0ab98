"""Many players at one table of one gateway: from an event to its message, lost messages, memory of each.

    python -m benchmarks.bench_viewers [--quick]

The gateway's own connections, hub, frames and server, with a table, sessions and commands that cost nothing;
the players' programs are a process of their own (`viewers_load`). Five public messages a second, one own
event each in a round of ten seconds. Then the same through the server's usual way of sending, message by
message and connection by connection, with fewer viewers, and ours with as many: their ratio carries over.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime as dt
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import uvicorn
from fastapi import FastAPI

from upcard_gateway.app.game_seen import Beginning, Happened, Made, Mine, Purse
from upcard_gateway.app.people import Player
from upcard_gateway.app.play_places import PlaceSeal
from upcard_gateway.app.play_watch import Update
from upcard_gateway.app.player_sessions import Playing
from upcard_gateway.domain.sessions import Limits, Session
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.play import serving
from upcard_gateway.entrypoints.play.chat_room import ChatRoom
from upcard_gateway.entrypoints.play.connection import Parts
from upcard_gateway.entrypoints.play.hub import HubBounds, TableHub
from upcard_gateway.entrypoints.play.looking import Lookers, Told
from upcard_gateway.entrypoints.play.shown import table_shown
from upcard_gateway.entrypoints.play.socket import Socket
from upcard_gateway.entrypoints.play.tables import Tables
from upcard_gateway.entrypoints.play.taking_over import Registry
from upcard_gateway.entrypoints.play.viewing import Doors
from upcard_gateway.entrypoints.play.wire import PlayProtocol
from upcard_gateway.settings.play import PlaySettings

TABLE: Final = "t1"
PER_S: Final = 5
ROUND_S: Final = 10.0
_PAGE: Final = resource.getpagesize()
_TABLE_NOW: Final = {"table": TABLE, "name": "One", "ruleset": "none@1", "open": True, "position": 0}


class Source:
    """`TableWatch`: public events at a steady rate, own ones spread over a round."""

    def __init__(self, messages: int, rounds: int) -> None:
        self._messages = messages
        self._rounds = rounds
        self.begun = asyncio.Event()

    async def public(self, table: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch`."""
        del table, token
        yield Update("p", Beginning(_TABLE_NOW, 0, 0, None))
        await self.begun.wait()
        due_s = time.monotonic()
        for number in range(self._messages):
            due_s += 1 / PER_S
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            yield Update("p", (_event(number),))
        await asyncio.Event().wait()

    async def own(self, table: str, player: str, currency: str, token: str = "") -> AsyncIterator[Update]:
        """See `TableWatch`."""
        del table, currency, token
        yield Update("o", Beginning(_TABLE_NOW, 0, 0, None))
        await self.begun.wait()
        await asyncio.sleep(int(player[1:]) % 1_000 / 1_000 * ROUND_S * 0.9)
        for number in range(self._rounds):
            yield Update("o", Mine((_event(number),)))
            await asyncio.sleep(ROUND_S)
        await asyncio.Event().wait()

    async def now(self, table: str, player: str = "", currency: str = "") -> Beginning:
        """See `TableWatch`."""
        del table, player, currency
        return Beginning(_TABLE_NOW, 0, 0, None)


def _event(number: int) -> Happened:
    payload = {"place": "box.1.0", "number": number, "sent_ns": time.monotonic_ns()}
    return Happened(1, number + 1, "CardScanned", payload)


class Nothing:
    """Sessions, rows, commands and chat that cost nothing."""

    async def of_token(self, token: str, now: dt.datetime) -> Playing:
        """A session of whoever asks."""
        later = now + dt.timedelta(hours=1)
        session = Session(
            token, token, "op", "a", "EUR", "live", "transfer", None, Limits(), now, later, later, 900, now, 1
        )
        return Playing(session, Player(token, "op", token, "Ann", "NL", "en"))

    async def operator(self, operator: str) -> object:
        """An operator that is open."""
        del operator
        return SimpleNamespace(terms=SimpleNamespace(closed=False, launch_url=None))

    async def take(self, held: object) -> None:
        """Nothing."""

    async def release(self, held: object) -> None:
        """Nothing."""

    async def look(self, held: object, now: object) -> tuple[()]:
        """Nobody has to end."""
        del held, now
        return ()

    async def seen(self, players: object, now: object) -> frozenset[str]:
        """Nothing."""
        del players, now
        return frozenset()

    def sees(self, playing: object, table: str) -> bool:
        """Everything."""
        del playing, table
        return True

    async def purse(self, playing: Playing, *, fresh: bool = False) -> Purse:
        """Some money."""
        del playing, fresh
        return Purse("EUR", 1_000)

    def balance(self, purse: Purse) -> Made:
        """It."""
        return Made("balance", 0, {"currency": purse.currency, "amount": purse.cash})

    async def last_round(self, playing: Playing) -> None:
        """None."""

    async def latest(self, table: str) -> tuple[int, tuple[()]]:
        """No chat."""
        del table
        return 0, ()

    def follow(self, table: str, told: object) -> Any:  # noqa: ANN401 - what ends it
        """No chat."""
        del table, told
        return lambda: None


def _edge(nothing: Nothing) -> Edge:
    fields = PlaySettings.model_fields
    settings = {name: field.default for name, field in fields.items() if name.startswith("play_")}
    settings |= {"play_address_connections_max": 1_000_000, "trusted_proxies": ()}
    more = SimpleNamespace(**settings, public_url="http://127.0.0.1", instance="bench")
    return cast(
        "Edge", SimpleNamespace(settings=more, now=_now, operators=nothing, pool=None, dealer_names={})
    )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _play(source: Source) -> serving.Play:
    nothing: Any = Nothing()
    edge = _edge(nothing)
    settings = edge.settings
    watch: Any = source
    bounds = HubBounds(settings.play_buffer_messages, settings.play_buffer_bytes, 60.0, 131_072)
    seal = PlaceSeal({"k1": bytes(32)}, "k1")
    tables = Tables(
        lambda table: TableHub(table, watch, lambda: table_shown(edge, table), edge.now, bounds, seal),
        lambda hub: ChatRoom(hub.table, nothing, edge.now, lambda: hub.round),
        60.0,
    )
    registry = Registry(nothing, edge.now, time.monotonic, 0.5)
    doors = Doors(settings, time.monotonic)
    parts = Parts(edge, watch, nothing, tables, registry, nothing, doors, seal)
    return serving.Play(parts, Socket(parts, RateLimit(time.monotonic)))


async def _measure(viewers: int, seconds: int) -> dict[str, Any]:
    messages, rounds = seconds * PER_S, int(seconds // ROUND_S)
    source = Source(messages, rounds)
    play = _play(source)
    app = FastAPI()
    app.include_router(serving.router)
    app.state.play = play
    config = uvicorn.Config(
        app, port=0, log_config=None, lifespan="off", ws=PlayProtocol, ws_per_message_deflate=False,
        backlog=4_096, access_log=False, timeout_graceful_shutdown=3,
    )  # fmt: skip
    server = uvicorn.Server(config)
    serve = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells it by this alone
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    ending = asyncio.Event()
    running = asyncio.create_task(play.run(ending))
    before, cpu_s = _resident(), time.process_time()
    arguments = [str(one) for one in (port, viewers, messages, rounds, seconds + 30)]
    load = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.viewers_load", *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert load.stdout is not None
    assert (await load.stdout.readline()).strip() == b"ready"
    each = (_resident() - before) / viewers
    joined_s = time.process_time() - cpu_s
    cpu_s, began_s = time.process_time(), time.monotonic()
    source.begun.set()
    found: dict[str, Any] = json.loads(await load.stdout.readline())
    found["server_cores"] = round((time.process_time() - cpu_s) / (time.monotonic() - began_s), 2)
    found["memory_kib_a_viewer"] = round(each / 1_024, 1)
    found["joining_ms_a_viewer"] = round(joined_s / viewers * 1_000, 2)
    await load.wait()
    ending.set()
    server.should_exit = True
    await asyncio.wait([serve, running], timeout=30)
    return found


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


@contextlib.contextmanager
def _as_usual() -> Iterator[None]:
    """Send through the server's usual way: each message to each connection anew."""
    ours = Lookers.tell
    sending: set[asyncio.Task[None]] = set()

    def tell(self: Lookers, told: Told) -> None:
        text = told.frame[4:].decode()

        async def send() -> None:
            for one in tuple(self):
                with contextlib.suppress(RuntimeError):
                    await cast("Any", one)._socket.send_text(text)  # noqa: SLF001 - what is compared

        task = asyncio.create_task(send())
        sending.add(task)
        task.add_done_callback(sending.discard)

    Lookers.tell = tell  # type: ignore[method-assign]  # what is compared
    try:
        yield
    finally:
        Lookers.tell = ours  # type: ignore[method-assign]  # as it was


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few viewers: only proves that it runs")
    parser.add_argument("--viewers", type=int, default=5_000)
    parser.add_argument("--seconds", type=int, default=30)
    asked = parser.parse_args()
    viewers, seconds = (200, 10) if asked.quick else (asked.viewers, asked.seconds)
    found = asyncio.run(_measure(viewers, seconds))
    print(f"{viewers} viewers: {found}", flush=True)
    few = max(50, viewers // 5)
    ours = asyncio.run(_measure(few, 10))
    with _as_usual():
        usual = asyncio.run(_measure(few, 10))
    print(f"{few} viewers, ours: {ours}\n{few} viewers, as usual: {usual}")
    print(
        f"CPU of the server, as usual / ours: {usual['server_cores'] / max(ours['server_cores'], 0.01):.1f}"
    )
    return 0 if not found["wrong"] and not found["gone"] else 1


if __name__ == "__main__":
    sys.exit(main())
