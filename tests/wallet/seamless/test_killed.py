"""The wallet's process dies at each point between two durable steps with a partner; the next one goes on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.wallet.seamless.doomed import PLAYERS
from tests.wallet.seamless.world import SeamlessWorld
from upcard_wallet.adapters.seamless.faults import POINTS

ROOT = Path(__file__).parents[3]
DEADLINE_S = 200


async def life(dsn: str, port: int, die_at: str, after: int) -> int:
    """One life of the program: its exit code."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.wallet.seamless.doomed", dsn, str(port), die_at, str(after), cwd=ROOT
    )
    return await process.wait()


@pytest.mark.parametrize("point", sorted(POINTS))
async def test_after_each_death_money_and_holds_agree_with_the_partner(
    world: SeamlessWorld, service_database: str, point: str
) -> None:
    for player in PLAYERS:
        world.server.give(player, 100)
    async with asyncio.timeout(DEADLINE_S):
        codes = [await life(service_database, world.server.port, point, after) for after in (1, 2)]
        assert codes == [-9, -9], f"{point} was not reached"
        assert await life(service_database, world.server.port, "nowhere", 1) == 0
    await world.agrees_with_partners()
    for player in PLAYERS:
        held = await world.pool.fetch("SELECT state FROM wallet.holds WHERE player = $1", player)
        assert {row["state"] for row in held} <= {"settled", "released", "refused"}, "nothing is left open"
        won = sum(row["state"] == "settled" for row in held)
        assert world.server.balances[player, "EUR"] == 100 + 15 * won
    bets = [asked["call"] for kind, asked in world.server.calls if kind == "bet"]
    assert len(bets) == len(set(bets)), "a bet is asked once in all lives"
