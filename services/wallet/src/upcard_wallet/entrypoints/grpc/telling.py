"""Telling of a batch's commands while the others are still being asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.app.place_holds import PlacedHolds
from upcard_wallet.entrypoints.grpc import messages


class Answers:
    """What became of commands, in the order in which it was heard."""

    def __init__(self) -> None:
        self._waiting: list[pb.AnsweredHolds] = []
        self._wake = asyncio.Event()

    def answered(self, place: int, placed: PlacedHolds) -> None:
        """See `app.place_holds.Answered`."""
        self._waiting.append(pb.AnsweredHolds(index=place, placed=messages.placed_holds(placed)))
        self._wake.set()

    async def until(
        self, placing: asyncio.Task[tuple[PlacedHolds, ...]]
    ) -> AsyncGenerator[list[pb.AnsweredHolds]]:
        """What was heard since the last time, again and again until the task has ended.

        Raises what the task raises. The task ends with the iteration, also where that is given up: what its
        partners are asked for by then is rolled back by whoever ends abandoned bets.
        """
        placing.add_done_callback(lambda _: self._wake.set())
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                over = placing.done()
                if self._waiting:
                    heard, self._waiting = self._waiting, []
                    yield heard
                if over:
                    break
            await placing
        finally:
            placing.cancel()
            await asyncio.gather(placing, return_exceptions=True)
