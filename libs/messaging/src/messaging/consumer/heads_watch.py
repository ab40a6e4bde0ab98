"""Comparing with the source every few seconds: a missing tail, a fork, a shard that someone let go on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from eventstore import SHARDS
from eventstore.following import Applier
from messaging.consumer.board import Board, Shard
from messaging.consumer.delivering import Delivery
from messaging.consumer.observer import ConsumerObserver
from messaging.consumer.settings import ConsumerSettings

_PATIENCE: Final = 6
"""How many times longer a shard's records may wait in Kafka while it brings those of others."""


class HeadsWatch:
    """Finds what Kafka will never say: that nothing comes though something should."""

    def __init__(
        self,
        applier: Applier,
        board: Board,
        delivery: Delivery,
        settings: ConsumerSettings,
        observer: ConsumerObserver,
    ) -> None:
        self._applier = applier
        self._board = board
        self._delivery = delivery
        self._settings = settings
        self._observer = observer
        self._hashes_at = 0.0
        self.compared_at: float | None = None
        """When the source was last asked, by the event loop's clock."""
        self._outside_since: float | None = None

    async def look(self, *, member: bool, more_in_kafka: Callable[[int], Awaitable[bool]]) -> None:
        """One comparison. `member`: whether the group tells us our shards.

        `more_in_kafka`: whether a shard has records that have not been taken yet, as far as is known.

        Raises what the feed and the applier raise.
        """
        self._follow_all_if_alone(member=member)
        stopped = {shard.number for shard in self._board if shard.stopped is not None}
        going = {shard.number for shard in self._board if shard.position is not None} - stopped
        if not going and not stopped:
            return
        now = asyncio.get_running_loop().time()
        hashes = now >= self._hashes_at
        if hashes:
            self._hashes_at = now + self._settings.hashes_interval_s
        heads = await self._delivery.compare_heads(going, hashes=hashes)
        self.compared_at = now
        heard = any(shard.deliveries != shard.deliveries_seen for shard in self._board)
        patience = self._settings.silent_comparisons * (_PATIENCE if heard else 1)
        for shard in self._board:
            if shard.position is not None and (head := heads.get(shard.number)) is not None:
                shard.head = head.position
                await self._look_at_tail(shard, head.position, patience, more_in_kafka if member else None)
        if stopped:
            await self._look_at_stopped(stopped)

    async def _look_at_tail(
        self, shard: Shard, head: int, patience: int, more_in_kafka: Callable[[int], Awaitable[bool]] | None
    ) -> None:
        behind = head > (shard.position or 0)
        heard, shard.deliveries_seen = shard.deliveries != shard.deliveries_seen, shard.deliveries
        if not behind or heard or not shard.takes_records:
            shard.silent = 0
            return
        shard.silent += 1
        if more_in_kafka is not None:
            if shard.silent == 1:
                return  # it may be on its way
            # What waits to be taken is not missing; but nor may it wait for ever in a broker that has gone.
            if shard.silent <= patience and await more_in_kafka(shard.number):
                return
        self._fill(shard, head)

    def _fill(self, shard: Shard, head: int) -> None:
        self._observer.missing(shard.number, head - (shard.position or 0), tail=True)
        self._board.fill(shard, head)

    async def _look_at_stopped(self, numbers: set[int]) -> None:
        for number, known in (await self._applier.positions(numbers)).items():
            shard = self._board.get(number)
            if shard is None or known.stopped is not None:
                continue
            shard.stopped, shard.position, shard.epoch = None, known.position, known.epoch
            # What came meanwhile was left out.
            if shard.head is not None and shard.head > known.position:
                self._board.fill(shard, shard.head)
            self._board.changed.set()

    def _follow_all_if_alone(self, *, member: bool) -> None:
        now = asyncio.get_running_loop().time()
        if member:
            self._outside_since = None
        elif self._outside_since is None:
            self._outside_since = now
        elif not self._board and now - self._outside_since >= self._settings.without_broker_after_s:
            # Others may do the same: they find each other's work done.
            self._board.assign(range(SHARDS))
            self._observer.assigned(SHARDS, by_group=False)
