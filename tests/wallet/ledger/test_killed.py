"""The wallet's process dies at each of its fault points, again and again; the same commands come again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.wallet.ledger.killed_wallet import ROUNDS
from tests.wallet.ledger.world import World
from upcard_wallet.adapters.faults import POINTS

ROOT = Path(__file__).parents[3]
DEADLINE_S = 180


async def live(database: str, die_at: str, after: int) -> int:
    """Run the wallet until it dies or is done; its exit code."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.wallet.ledger.killed_wallet", database, die_at, str(after), cwd=ROOT
    )
    return await process.wait()


@pytest.mark.parametrize("point", sorted(POINTS))
async def test_every_command_has_its_effect_once(world: World, service_database: str, point: str) -> None:
    await world.player(money=1_000)
    deaths = 0
    async with asyncio.timeout(DEADLINE_S):
        for after in range(1, ROUNDS + 2):
            code = await live(service_database, point, after)
            if code == 0:
                break
            assert code == -9
            deaths += 1
            await world.all_is_explained()
        else:
            pytest.fail("it never came to an end")
    assert deaths == ROUNDS
    # Two rounds were won by 10 and lost 20; of the bonus nothing was staked, so its hold went back.
    assert await world.has() == (980, 0, 0, 0)
    assert await world.books() == {"cashier": -1_000, "house": 20}
    assert await world.value("SELECT count(*) FROM wallet.holds") == 3 * ROUNDS
    await world.all_is_explained()
