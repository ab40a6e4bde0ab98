"""A program that places holds and follows rounds, and kills itself at a fault point: a test starts it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from uuid import UUID

from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool
from rules_core.round.events import RoundEvent
from tests.wallet.ledger.world import ROUND_CANCELLED, ROUND_SETTLED, World, bet, settled, states
from upcard_wallet.app.follow_rounds import RoundFact

ROUNDS = 4


async def main(dsn: str, die_at: str, after: int) -> None:
    """Play some rounds, always the same ones; die when the point is reached for the n-th time."""
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        world = World(pool, store)
        with arm(die):
            for number in range(1, ROUNDS + 1):
                await play(world, f"t1.{number}", number)


async def play(world: World, name: str, number: int) -> None:
    """One round of one player: two commands, and its end."""
    placed = await world.place(
        bet((1, "ante", 10), round_name=name),
        bet((1, "bet", 20), (1, "bonus_player", 5), round_name=name, bet_id="b2"),
    )
    # In a life after the round's end its holds are settled or released.
    assert set(states(placed)) <= {"held", "hold_answered_late"}
    events: list[RoundEvent] = [ROUND_CANCELLED]
    if number % 2:
        events = [settled((1, "ante", 10, 20), (1, "bet", 20, 0)), ROUND_SETTLED]
    facts = [
        RoundFact(name, UUID(int=number * 10 + place), "table", event) for place, event in enumerate(events)
    ]
    await world.hear_again(facts)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
