"""The reference wallet is killed while it is asked a lot."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.conformance.world import DIALECTS, MONEY, OURS, TARGET, WITHIN_S, program
from upcard_conformance.reference.book import Book
from upcard_conformance.stage import Stage
from upcard_conformance.wire import Wire
from upcard_seamless.answers import Accepted
from upcard_seamless.dialects import load_dialect

BETS = 60


async def test_what_was_answered_before_the_kill_is_there_and_nothing_is_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    async with program(path) as running:
        for dialect in DIALECTS:
            address, secret = running.addresses[dialect], OURS[dialect]
            async with Wire(address, load_dialect(dialect), secret, timeout_s=WITHIN_S) as wire:
                stage = Stage(wire, TARGET)
                bets = [stage.bet(10 + number) for number in range(BETS)]
                asking = [asyncio.create_task(stage.ask(one)) for one in bets]
                # Some are answered, some are under way, some have not begun.
                await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                await running.kill_and_start()
                first = await asyncio.gather(*asking)
                answered = {one.call.call for one in first if isinstance(one.verdict, Accepted)}
                assert answered
                kept = Book(path)
                ids = {one.id for one in kept.movements()}
                kept.close()
                for bet in bets:
                    if bet.call in answered:
                        assert {str(one.id) for one in bet.transactions} <= ids
                for bet in bets:
                    await stage.done(bet, "now, or before the kill")
                await stage.owns(MONEY - sum(bet.total for bet in bets), "each was taken once")
                await stage.tidy()
