from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore import Expect, RecordedEvent
from eventstore.following import Applier, Page, Policy, list_parked, reset_position
from eventstore.postgres import PostgresEventStore, open_pool
from rules_core.round.events import RoundCancelled
from tests.history.rounds import Round, history, new_event, random_round, round_content
from tests.history.world import World
from upcard_history.app.mirror import MirrorBroken, mirror_handler

QUICK = Policy(attempts=1)


class Source:
    """The table service's log, in a database of its own."""

    def __init__(self, store: PostgresEventStore) -> None:
        self.store = store

    async def says(self, *rounds: Round) -> None:
        """Its owner appends."""
        for one in rounds:
            await self.store.append(one.stream, one.new_events(), expected=Expect.ANY)

    async def pages(self, *, limit: int = 500) -> list[Page]:
        """All of its log, a list a round trip."""
        pages = []
        for shard, head in enumerate(await self.store.shard_heads()):
            after = 0
            while after < head:
                found = await self.store.read_shard(shard, after=after, limit=limit)
                pages.append(Page.of_shard(found, after=after))
                after = found.through
        return pages


@pytest.fixture
async def source(new_database: Callable[[], str]) -> AsyncIterator[Source]:
    async with (
        await open_pool(new_database(), application_name="table") as pool,
        PostgresEventStore(pool) as store,
    ):
        yield Source(store)


def following(world: World, source: str = "table") -> Applier:
    """The consumer without its transport."""
    return Applier(world.pool, "history", source, mirror_handler(source), policy=QUICK, store=world.store)


async def test_a_mirrored_stream_is_the_same_to_the_byte_and_the_hash(world: World, source: Source) -> None:
    rounds = [random_round("three-box@1", 1), history("scripted-shared_round"), history("random-classic@1-1")]
    await source.says(*rounds)
    applier = following(world)
    for page in await source.pages(limit=7):
        await applier.apply([page])
    for one in rounds:
        here = [event async for event in world.store.iterate_stream(one.stream)]
        there = [event async for event in source.store.iterate_stream(one.stream)]
        assert [_kept(event) for event in here] == [_kept(event) for event in there]
    assert await _parked(world) == []


def _kept(event: RecordedEvent) -> tuple[object, ...]:
    """All that is the stream's own."""
    return (event.stream, event.stream_position, event.event_id, event.type, event.content, event.hash)


async def test_what_comes_again_changes_nothing(world: World, source: Source) -> None:
    one = random_round("three-box@1", 1)
    await source.says(one)
    applier = following(world)
    pages = await source.pages()
    await applier.apply(pages)
    applied = await applier.apply(pages)
    assert applied.applied == 0
    # Even when a person has set the position back.
    async with world.owner.acquire() as connection:
        for page in pages:
            await reset_position(connection, "history", "table", page.shard, 0)
    await applier.apply(pages)
    assert (await world.store.stream_head(one.stream)).position == len(one.contents)
    assert await _parked(world) == []


async def test_logs_that_come_in_turns_end_alike(world: World, source: Source) -> None:
    """Three services share this log; each has a position of its own."""
    await world.tell("account-a1", "Deposited", "2026-01-01T00:00:00.000000Z", {})
    one = random_round("three-box@1", 2)
    await source.says(one)
    await following(world).apply(await source.pages())
    assert (await world.store.stream_head(one.stream)).position == len(one.contents)


async def test_another_history_of_a_stream_is_parked_and_others_go_on(world: World, source: Source) -> None:
    """The source lost its last events and went on differently; what it said before is not overwritten."""
    other, good = random_round("three-box@1", 2, table="t8"), random_round("three-box@1", 3, table="t9")
    await world.append(other.stream, [new_event(round_content(other.name, RoundCancelled("card_dropped")))])
    await source.says(other, good)
    await following(world).apply(await source.pages())
    assert await _parked(world) == [other.stream]
    assert (await world.store.stream_head(other.stream)).position == 1
    assert (await world.store.stream_head(good.stream)).position == len(good.contents)


async def test_a_known_position_with_another_event_is_parked(world: World, source: Source) -> None:
    one = random_round("three-box@1", 2)
    await source.says(one.cut(1))
    await world.append(one.stream, [new_event(round_content(one.name, RoundCancelled("card_dropped")))])
    with pytest.raises(MirrorBroken, match="another event"):
        await _handle(world, await source.pages())


async def test_a_service_cannot_write_what_is_not_its_own(world: World, source: Source) -> None:
    await source.says(random_round("three-box@1", 2).cut(1))
    with pytest.raises(MirrorBroken, match="no stream of wallet"):
        await _handle(world, await source.pages(), "wallet")


async def test_the_service_cannot_change_what_it_has_kept(world: World) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await world.pool.execute("DELETE FROM eventstore.events")


async def _handle(world: World, pages: list[Page], source: str = "table") -> None:
    async with world.pool.acquire() as connection, connection.transaction():
        await mirror_handler(source)(connection, [event for page in pages for event in page.events])


async def _parked(world: World) -> list[str]:
    async with world.pool.acquire() as connection:
        return [one.stream for one in await list_parked(connection)]
