"""The queue's own migration, and plans that read what is open alone."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.wallet.ledger.world import ROUND_SETTLED, bet, settled
from tests.wallet.seamless.world import SeamlessWorld
from upcard_wallet.adapters.seamless.planning import Decision
from upcard_wallet.adapters.seamless.queue import claim_due, note_decisions


async def test_an_answer_that_comes_after_its_claim_ran_out_changes_nothing(world: SeamlessWorld) -> None:
    await world.guest(money=100)
    await world.place(bet((1, "ante", 30)))
    await world.hear(("t1.1", settled((1, "ante", 30, 80))), ("t1.1", ROUND_SETTLED))
    await world.hear(("t1.1", settled((1, "ante", 30, 90), revision=2)))
    async with world.pool.acquire() as connection:
        (slow,) = await claim_due(connection, "op1", limit=9, claim=uuid4(), claim_s=0.0)
        (quick,) = await claim_due(connection, "op1", limit=9, claim=uuid4(), claim_s=60.0)
        assert slow.call == quick.call
        assert await claim_due(connection, "op1", limit=9, claim=uuid4(), claim_s=60.0) == []
        for claimed in (slow, quick, slow):
            before = await world.calls()
            await note_decisions(connection, [(claimed, Decision("done"))])
            assert (await world.calls() == before) == (claimed is slow)
        lane = await connection.fetchrow("SELECT state, claim FROM wallet.partner_lanes")
    assert await world.calls() == [("bet", "accepted", 30), ("win", "done", 80), ("win", "queued", 10)]
    assert lane is not None
    assert tuple(lane) == ("waiting", None)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (
            (
                "SELECT lane FROM wallet.partner_lanes WHERE operator = 'op1' AND state = 'waiting'"
                " AND due_at <= now() ORDER BY due_at LIMIT 10 FOR UPDATE SKIP LOCKED"
            ),
            "partner_lanes_due_idx",
        ),
        (
            (
                "SELECT command FROM wallet.partner_calls WHERE state = 'asking' AND abandoned_at <= now()"
                " ORDER BY abandoned_at LIMIT 10"
            ),
            "partner_calls_asking_idx",
        ),
        (
            (
                "SELECT call FROM wallet.partner_calls WHERE lane = '00000000-0000-0000-0000-000000000001'"
                " AND state = 'queued' ORDER BY number LIMIT 1"
            ),
            "partner_calls_open_idx",
        ),
    ],
)
async def test_what_is_open_is_found_by_an_index(world: SeamlessWorld, query: str, index: str) -> None:
    async with world.pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {query}"))
    assert index in plan, plan
