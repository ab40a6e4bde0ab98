"""Two gateways: a player goes on at the other one, takes over from there, outlives one that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import pytest
import pytest_asyncio

from rules_core.log.content import parse_content
from tests.end_to_end.gateway.dealing import ANTE, ScriptedTable
from tests.end_to_end.gateway.playing import (
    Told,
    Wire,
    at_table,
    connected,
    happened,
    merged,
    welcomed,
    window,
)
from tests.end_to_end.gateway.processes import CURRENCY, TRANSFER, Edge, fresh, until
from upcard_operate.demo.evidence import contents_of
from upcard_operate.local.fleet import Instance
from upcard_platform.models.sessions import Launched
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNED: Final = 100_000
WHOLE_NET: Final = 6 * ANTE
PLACEMENTS: Final = [
    {"box": 1, "wager": "ante", "amount": ANTE, "blind": True},
    {"box": 2, "wager": "ante", "amount": ANTE},
]


@dataclass
class Two:
    """Two gateways and a table."""

    edge: Edge
    first: str
    second: str
    doomed: Instance
    """The second one, as a process."""
    table: ScriptedTable

    @property
    def name(self) -> str:
        """The table's id."""
        return self.table.table.table

    async def player(self, name: str) -> Launched:
        """A player with money."""
        launched = await self.edge.launched(TRANSFER, name)
        deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=OWNED)
        await self.edge.platforms[TRANSFER].wallets.deposit(name, deposit)
        return launched

    async def owned(self, name: str, due: int) -> None:
        """Wait until a player has this, and nothing held."""

        async def balance() -> tuple[int, int]:
            (found,) = (await self.edge.platforms[TRANSFER].wallets.balances(name)).items
            return found.cash - found.held, found.held

        await until(f"{name} to have {due}", balance, lambda found: found == (due, 0))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(edge: Edge) -> AsyncIterator[Two]:
    table = ScriptedTable(edge.casino, "t-two")
    await table.open()
    doomed = await asyncio.to_thread(edge.fleet.start_gateway)
    yield Two(edge, edge.fleet.platform_url, doomed.url, doomed, table)


async def bet(wire: Wire, number: int) -> None:
    """Boxes 1 and 2."""
    answer = await wire.say("bet", round=number, placements=PLACEMENTS)
    assert answer["accepted"], answer


async def bet_on(wire: Wire, number: int) -> None:
    """The open box, once its cards lie there."""
    await window(wire, number, "options")
    answer = await wire.say("option", round=number, box=2, kind="bet")
    assert answer["accepted"], answer


async def test_a_player_goes_on_at_the_other_gateway(two: Two) -> None:
    """Nothing is missed and nothing comes twice, whichever gateway tells it."""
    launched = await two.player("goes-on")
    async with contextlib.AsyncExitStack() as stack:
        whole = await stack.enter_async_context(connected(two.first, view=True, table=two.name))
        await at_table(whole)
        first = await stack.enter_async_context(
            connected(two.first, launch_token=launched.launch_token, table=two.name)
        )
        token = (await welcomed(first))["session_token"]
        await at_table(first)
        parts = [first]

        async def elsewhere(url: str) -> Wire:
            """Break the connection off, and go on at another gateway."""
            parts[-1].socket.transport.abort()
            await parts[-1].closed()
            wire = await stack.enter_async_context(
                connected(url, session_token=token, table=two.name, resume=merged(parts).resume())
            )
            await welcomed(wire)
            parts.append(wire)
            return wire

        async def betting(number: int) -> None:
            await bet(parts[-1], number)
            await elsewhere(two.second)

        async def options(number: int) -> None:
            await bet_on(parts[-1], number)
            await elsewhere(two.first)

        number = await two.table.play({"betting": betting, "options": options})
        last = parts[-1]
        await asyncio.gather(*(happened(one, number, "RoundSettled") for one in (whole, last)))
        await happened(last, number, "PlayerSettled", "own")
        assert len(parts) == 3
        assert not any(one["type"] == "snapshot" for wire in parts[1:] for one in wire.told), "it went on"
        together = merged(parts)
        assert together.events("table", number) == whole.events("table", number)
        assert together.events("own", number) == await own_events(two, number, launched.player_ref)
    await two.owned("goes-on", OWNED + WHOLE_NET)


async def own_events(two: Two, number: int, player: str) -> list[tuple[int, int, str]]:
    """A player's own events of a round, as the log has them."""
    stream = f"round-{two.name}.{number}"
    contents = [parse_content(one) async for one in contents_of(two.edge.casino.rounds, stream)]
    return [
        (number, position, content.type)
        for position, content in enumerate(contents, start=1)
        if content.payload.get("player") == player
    ]


async def test_a_second_connection_takes_over_from_another_gateway(two: Two) -> None:
    launched = await two.player("takes-over")
    async with connected(two.first, launch_token=launched.launch_token, table=two.name) as older:
        token = (await welcomed(older))["session_token"]
        await at_table(older)
        async with connected(two.second, session_token=token, table=two.name) as newer:
            await welcomed(newer)
            last = await older.closed()
            assert (last["type"], last["reason"]) == ("ended", "taken_over"), last
            assert not last["resumable"]
            await at_table(newer)

            async def betting(number: int) -> None:
                await bet(newer, number)

            async def options(number: int) -> None:
                await bet_on(newer, number)

            number = await two.table.play({"betting": betting, "options": options})
            await happened(newer, number, "PlayerSettled", "own")
            async with connected(two.first, session_token=token, table=two.name) as back:
                await at_table(back)
                assert (await newer.closed())["reason"] == "taken_over"
    await two.owned("takes-over", OWNED + WHOLE_NET)


async def test_a_bet_is_once_whichever_gateway_hears_of_it(two: Two) -> None:
    """The answer of a bet is lost; the same message at another gateway gets it, and stakes nothing more."""
    launched = await two.player("says-twice")
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(
            connected(two.first, launch_token=launched.launch_token, table=two.name)
        )
        token = (await welcomed(first))["session_token"]
        await at_table(first)
        answers: list[Told] = []
        wires = [first]

        async def betting(number: int) -> None:
            message = {"type": "bet", "id": "bet-1", "round": number, "placements": PLACEMENTS}
            await first.socket.send(json.dumps(message))
            first.socket.transport.abort()
            await first.closed()
            for url in (two.second, two.first):
                wire = await stack.enter_async_context(connected(url, session_token=token, table=two.name))
                await welcomed(wire)
                wires.append(wire)
                answers.append(await wire.say("bet", id="bet-1", round=number, placements=PLACEMENTS))

        async def options(number: int) -> None:
            await bet_on(wires[-1], number)

        await two.table.play({"betting": betting, "options": options})
        assert [one["accepted"] for one in answers] == [True, True]
    await two.owned("says-twice", OWNED + WHOLE_NET)


async def test_a_gateway_is_killed_under_its_players(two: Two) -> None:
    """In the middle of a round; they go on at the other one, and are paid what the rules say."""
    names = [f"killed-{number}" for number in range(8)]
    launched = [await two.player(name) for name in names]
    async with contextlib.AsyncExitStack() as stack:
        whole = await stack.enter_async_context(connected(two.first, view=True, table=two.name))
        await at_table(whole)
        tokens, parts = [], []
        for one in launched:
            wire = await stack.enter_async_context(
                connected(two.second, launch_token=one.launch_token, table=two.name)
            )
            tokens.append((await welcomed(wire))["session_token"])
            await at_table(wire)
            parts.append([wire])

        async def betting(number: int) -> None:
            await asyncio.gather(*(bet(wires[-1], number) for wires in parts))
            await asyncio.to_thread(two.doomed.process.kill)
            for token, wires in zip(tokens, parts, strict=True):
                await wires[-1].closed()
                wire = await stack.enter_async_context(
                    connected(two.first, session_token=token, table=two.name, resume=merged(wires).resume())
                )
                await welcomed(wire)
                wires.append(wire)

        async def options(number: int) -> None:
            await asyncio.gather(*(bet_on(wires[-1], number) for wires in parts))

        number = await two.table.play({"betting": betting, "options": options})
        await happened(whole, number, "RoundSettled")
        for one, wires in zip(launched, parts, strict=True):
            await happened(wires[-1], number, "PlayerSettled", "own")
            await happened(wires[-1], number, "RoundSettled")
            together = merged(wires)
            assert together.events("table", number) == whole.events("table", number)
            assert together.events("own", number) == await own_events(two, number, one.player_ref)
    for name in names:
        await two.owned(name, OWNED + WHOLE_NET)
