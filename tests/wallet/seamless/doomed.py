"""A wallet that places, settles and tells, and kills itself at a fault point: a test starts it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from uuid import UUID, uuid5

from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool
from tests.wallet.ledger.world import ROUND_SETTLED, bet, declined, settled
from tests.wallet.partner import PartnerServer
from tests.wallet.seamless.world import SeamlessWorld
from upcard_wallet.app.follow_rounds import RoundFact

PLAYERS = tuple(f"p{number}" for number in range(6))
EVENTS = UUID("0b5b5a4e-5d1c-5a0e-8a11-3a4f0c8f6b11")


async def live(world: SeamlessWorld) -> None:
    """What a table does, the same in each life."""
    for player in PLAYERS:
        await world.guest(player)
    for number in (1, 2):
        name = f"t1.{number}"
        placed = await world.place(
            *(
                bet((1, "ante", 10), player=player, round_name=name, bet_id=f"b{number}")
                for player in PLAYERS
            ),
            within_s=5,
        )
        facts = []
        for player, one in zip(PLAYERS, placed, strict=True):
            event = (
                settled((1, "ante", 10, 25), player=player)
                if one.outcome.state == "held"
                else declined((1, "ante", 10), player=player, bet_id=f"b{number}")
            )
            facts.append(RoundFact(name, uuid5(EVENTS, f"{name}/{player}"), "table", event))
        facts.append(RoundFact(name, uuid5(EVENTS, f"{name}/end"), "table", ROUND_SETTLED))
        await world.hear_again(facts)
        world.start_work()
        await world.quiet()
        await world.stop_work()


async def main(dsn: str, port: int, die_at: str, after: int) -> None:
    """Live, and die at the n-th such point."""
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    server = PartnerServer(port=port)  # it runs with the test; here only its address is wanted
    async with (
        await open_pool(dsn, application_name="doomed") as pool,
        PostgresEventStore(pool) as store,
        SeamlessWorld(pool, store, {"op1": server}) as world,
    ):
        with arm(die):
            await live(world)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
