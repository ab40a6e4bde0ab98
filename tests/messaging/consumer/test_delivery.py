from __future__ import annotations

import asyncio
from dataclasses import replace

from eventstore.following import Applier, Page
from messaging.consumer.board import Board
from messaging.consumer.delivering import Delivery
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import FOLLOWER, QUICK, SERVICE, SETTINGS, World, recording


def delivery_of(world: World, board: Board) -> Delivery:
    applier = Applier(world.pool, FOLLOWER, SERVICE, recording(), policy=QUICK)
    return Delivery(applier, world.source.feed, board, SETTINGS, world.seen)


async def test_what_was_left_out_as_stale_does_not_count_as_applied(world: World) -> None:
    board = Board()
    board.assign([4])
    delivery = delivery_of(world, board)
    await delivery.read_positions()
    await world.source.append(stream_of_shard(4), 5)
    page = await world.source.feed.read_shard(4, after=0)
    first, rest = page.cut(2)
    await delivery.apply([replace(first, epoch=2)])
    await delivery.apply([replace(rest, epoch=1)])
    shard = board.get(4)
    assert shard is not None
    assert (shard.position, shard.epoch) == (2, 2)
    await delivery.apply([replace(rest, epoch=2)])
    assert shard.position == 5
    await world.assert_once_and_in_order()


async def test_pages_of_shards_that_are_not_ours_are_left_out(world: World) -> None:
    board = Board()
    board.assign([4])
    delivery = delivery_of(world, board)
    await delivery.read_positions()
    await world.source.append(stream_of_shard(4))
    await world.source.append(stream_of_shard(5))
    board.drop([4])
    pages: list[Page] = [await world.source.feed.read_shard(shard, after=0) for shard in (4, 5)]
    await delivery.apply(pages)
    assert await world.effects() == []


async def test_waiting_for_what_is_under_way_ends_with_it_or_with_the_time(world: World) -> None:
    delivery = delivery_of(world, Board())
    assert await delivery.wait_until_idle(0.01)
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        async with delivery.under_way():
            entered.set()
            await go_on.wait()

    working = asyncio.create_task(work())
    await entered.wait()
    assert not await delivery.wait_until_idle(0.01)
    go_on.set()
    assert await delivery.wait_until_idle(30)
    await working
