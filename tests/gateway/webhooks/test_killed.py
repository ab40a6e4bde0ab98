"""The process dies at each point between an event and its webhook's receipt; the next one goes on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.gateway.webhooks.world import HookWorld
from upcard_gateway.adapters.webhook_faults import POINTS

ROOT = Path(__file__).parents[3]
DEADLINE_S = 200
AT = sorted(POINTS | {"follow.before_commit", "follow.committed"})
TABLES = tuple(f"t{number}" for number in range(6))


async def life(dsn: str, die_at: str, after: int) -> int:
    """One life of the program: its exit code."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.gateway.webhooks.doomed", dsn, die_at, str(after), cwd=ROOT
    )
    return await process.wait()


@pytest.mark.parametrize("point", AT)
async def test_after_each_death_every_webhook_arrives_in_order(
    hooks: HookWorld, service_database: str, point: str
) -> None:
    for name, operator in (("one", "op1"), ("two", "op2")):
        await hooks.endpoint(name, operator)
    for number in (1, 2):
        for table in TABLES:
            await hooks.tell(f"table-{table}", "TableClosed", {"after_round": number})
    async with asyncio.timeout(DEADLINE_S):
        codes = [await life(service_database, point, after) for after in (1, 2)]
        assert codes == [-9, -9], f"{point} was not reached"
        await hooks.pool.execute(
            "UPDATE gateway.webhook_lanes SET due_at = clock_timestamp() WHERE claim IS NOT NULL"
        )  # its time, but for the waiting
        assert await life(service_database, "nowhere", 1) == 0
    assert not hooks.receiver.complaints
    for name in ("one", "two"):
        ids = set(hooks.receiver.ids(name))
        assert len(ids) == 2 * len(TABLES), "each event is one webhook"
        for table in TABLES:
            told = [one for one in hooks.receiver.taken[name] if one.subject == f"table-{table}"]
            numbers = [one.table_state.after_round for one in told]
            assert numbers == sorted(numbers, key=lambda number: number or 0), "in order"
            assert set(numbers) == {1, 2}
    assert await hooks.count("delivered") == 4 * len(TABLES)
    assert await hooks.value("SELECT count(*) FROM gateway.webhook_lanes WHERE due_at IS NOT NULL") == 0
