"""The handler behind a real applier: nothing twice, what cannot be applied is parked, what is newer stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from uuid import UUID

import pytest

from eventstore import Expect, NewEvent, RecordedEvent
from eventstore.following import Applier, HandlerUnfit, Page, Policy, list_parked, request_retry
from eventstore.ids import new_event_id
from eventstore.memory import MemoryEventStore
from eventstore.private import Keyring
from rules_core.command_line.random_round import random_round
from rules_core.log.content import Content, content_bytes, parse_content
from rules_core.round import events as e
from rules_core.rulesets.shipped import shipped
from tests.bonus.office.world import World
from upcard_bonus.adapters.postgres import SecretTable
from upcard_bonus.domain.jackpot_events import JackpotContributed
from upcard_bonus.entrypoints.consumer import table_handler
from upcard_bonus.entrypoints.consumer.table import fact_of

QUICK = Policy(attempts=1, first_pause_s=0.0, longest_pause_s=0.0)


def played(rounds: int) -> Iterator[list[Content]]:
    """Random rounds of one table with stakes on B."""
    tables = (random_round(shipped("dark-boxes@1"), seed, 2) for seed in range(401, 500))
    staked = (one for one in tables if any(_stakes_on_b(event) for event in one.events))
    for number, table in enumerate(islice(staked, rounds), start=1):
        yield [
            replace(
                content,
                stream=f"round-play.{number}",
                payload={**content.payload, "number": number}
                if content.type == "RoundOpened"
                else content.payload,
            )
            for content in map(parse_content, table.contents)
        ]


def _stakes_on_b(event: e.RoundEvent) -> bool:
    return isinstance(event, e.PlayerSettled) and any(
        line.wager == "bonus_player" for box in event.boxes for line in box.lines
    )


async def recorded(rounds: Sequence[Sequence[Content]]) -> list[Page]:
    """The table's log, as pages of its shards."""
    log = MemoryEventStore()
    for contents in rounds:
        new = [NewEvent(UUID(one.event_id), one.type, content_bytes(one)) for one in contents]
        await log.append(contents[0].stream, new, expected=Expect.NONE)
    heads = await log.shard_heads()
    return [Page.of_shard(await log.read_shard(shard), after=0) for shard, head in enumerate(heads) if head]


def applier(world: World) -> Applier:
    return Applier(world.pool, "bonus", "table", table_handler(world.office), policy=QUICK, store=world.store)


async def test_what_comes_again_has_no_second_effect(world: World) -> None:
    await world.jackpot("j1", "play")
    pages = await recorded(list(played(3)))
    follower = applier(world)
    await follower.apply(pages)
    told = await world.value("SELECT count(*) FROM eventstore.events")
    state = await world.state()
    contributed = [one for one in await world.events("jackpot-j1") if isinstance(one, JackpotContributed)]
    assert len(contributed) == 3
    await follower.apply(pages)
    await applier(world).apply(pages)
    assert await world.value("SELECT count(*) FROM eventstore.events") == told
    assert await world.state() == state


async def test_without_the_key_rounds_are_parked_until_it_is_back(world: World) -> None:
    await world.jackpot("j1", "play", must_hit_by=100_000)
    right = world.office
    other = SecretTable(Keyring({"k2": bytes(32)}, writes_with="k2"))
    world.office = replace(right, vault=other)
    pages = await recorded(list(played(2)))
    await applier(world).apply(pages)
    async with world.pool.acquire() as connection:
        parked = await list_parked(connection, "bonus")
    assert {one.stream for one in parked} == {"round-play.1", "round-play.2"}
    assert len(await world.events("jackpot-j1")) == 2
    world.office = right
    async with world.pool.acquire() as connection:
        await request_retry(connection, "bonus", "table")
    await applier(world).retry_parked()
    async with world.pool.acquire() as connection:
        assert not await list_parked(connection, "bonus")
    contributed = [one for one in await world.events("jackpot-j1") if isinstance(one, JackpotContributed)]
    assert {one.round for one in contributed} == {"play.1", "play.2"}


async def test_an_event_of_a_newer_version_stops_it(world: World) -> None:
    (contents,) = played(1)
    newer = [replace(contents[0], version=2), *contents[1:]]
    with pytest.raises(HandlerUnfit):
        await applier(world).apply(await recorded([newer]))
    assert await world.value("SELECT count(*) FROM bonus.rounds") == 0


async def test_what_is_not_of_a_round_means_nothing(world: World) -> None:
    content = Content(
        str(new_event_id()), "TipGiven", 1, "table-t1", "2026-11-30T12:00:00.000000Z", "c-1", None, "system",
        "00" * 16, {},
    )  # fmt: skip
    pages = await recorded([[content]])
    (event,) = pages[0].events
    assert isinstance(event, RecordedEvent)
    assert fact_of(event) is None
    await applier(world).apply(pages)
