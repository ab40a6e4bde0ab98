"""How players come: their casino launches them, money is there, and they sit down at a table."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from upcard_operate.demo.crowd import DemoPlayer, players_of
from upcard_operate.demo.operators import OPERATORS, DemoOperator
from upcard_operate.demo.partner import Partner
from upcard_operate.demo.tables import CURRENCY, DemoTable
from upcard_operate.demo.visitors import LookerOn, Visitor
from upcard_platform.client import Platform, new_request_id
from upcard_platform.models.sessions import Launch, Launched
from upcard_platform.models.wallets import Deposit
from upcard_platform.player import Player

_AT_ONCE: Final = 8
_PLAY_MONEY: Final = 100_000


@dataclass(slots=True)
class Visitors:
    """The players of one table, of all casinos in turn."""

    table: DemoTable
    players: list[DemoPlayer]
    outcomes: Counter[str] = field(default_factory=Counter)


def visitors_of(table: DemoTable, count: int, random: Random, first: int) -> Visitors:
    """So many players with habits of their own; `first`: from which casino the first of them comes."""
    players = players_of(table, count, random)
    for place, one in enumerate(players, start=first):
        operator = OPERATORS[place % len(OPERATORS)]
        one.operator, one.elsewhere = operator.operator, operator.seamless
    return Visitors(table, players)


@contextlib.asynccontextmanager
async def seated(
    visitors: Visitors, platforms: Mapping[str, Platform], partner: Partner, url: str, seed: int
) -> AsyncIterator[LookerOn]:
    """Launch them, have them sit down, and play for as long as this is entered.

    From then on `players` has our ids of them. What is given is somebody who looks on. Raises
    upcard_platform's errors, also those that end a connection which should go on.
    """
    gate = asyncio.Semaphore(_AT_ONCE)

    async def launched(one: DemoPlayer) -> Launched:
        async with gate:
            return await _launched(one, platforms[one.operator])

    sessions = await asyncio.gather(*map(launched, visitors.players))
    owned = {one.player: one.deposit for one in visitors.players if one.elsewhere}
    await asyncio.to_thread(partner.give, owned, CURRENCY)
    async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        table = visitors.table.table

        async def sat_down(session: Launched) -> Player:
            async with gate:
                player = Player(url, launch_token=session.launch_token, table=table)
                await stack.enter_async_context(player)
                await player.until(lambda now: now.snapshot is not None)
                return player

        playing: list[asyncio.Task[None]] = []
        for one, player in zip(visitors.players, await asyncio.gather(*map(sat_down, sessions)), strict=True):
            random = Random(f"{seed}/{table}/{len(playing)}")
            visitor = Visitor(one, visitors.table, player, random, visitors.outcomes)
            playing.append(group.create_task(visitor.play()))
        looker = LookerOn(await stack.enter_async_context(Player(url, view=True, table=table)))
        playing.append(group.create_task(looker.watch()))
        try:
            yield looker
        finally:
            for task in playing:
                task.cancel()


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where somebody may play, once, with play money."""

    operator: DemoOperator
    url: str = field(repr=False)
    until: dt.datetime


async def invited(platforms: Mapping[str, Platform], operator: DemoOperator, partner: Partner) -> Invitation:
    """A player of a casino with money, and the link that their page begins with."""
    one = DemoPlayer("visitor", "", _PLAY_MONEY, operator=operator.operator, elsewhere=operator.seamless)
    session = await _launched(one, platforms[operator.operator])
    if one.elsewhere:
        await asyncio.to_thread(partner.give, {one.player: one.deposit}, CURRENCY)
    return Invitation(operator, session.launch_url, session.launch_until)


async def _launched(one: DemoPlayer, platform: Platform) -> Launched:
    wish = Launch(
        request_id=new_request_id(),
        player=one.player,
        nickname=f"Guest {one.player.rpartition('-p')[2]}",
        currency=CURRENCY,
        country="NL",
    )
    session = await platform.sessions.launch(wish)
    if not one.elsewhere:
        deposit = Deposit(request_id=new_request_id(), currency=CURRENCY, amount=one.deposit)
        await platform.wallets.deposit(one.player, deposit)
    one.player, one.account = session.player_ref, session.account
    return session
