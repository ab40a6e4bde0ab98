from __future__ import annotations

import asyncio

import pytest

from eventstore.postgres import PostgresEventStore
from eventstore.projections import ProjectionOutdated, projection_status, rebuild_projection
from tests.history.rounds import history, random_round
from tests.history.world import World
from upcard_history.migrations import prepare_history
from upcard_history.projections import PROJECTIONS, ROUNDS
from upcard_history.projections.comparing import compare_projection
from upcard_history.projections.contents import EventIsNewer

ROUND_NAMES = [("three-box@1", 1), ("live-shared@1", 2), ("dark-boxes@1", 3)]


async def fill(world: World) -> None:
    await world.keep(*(random_round(ruleset, number, number=number) for ruleset, number in ROUND_NAMES))
    await world.keep(history("scripted-corrected_round"))
    await world.catch_up()


async def test_a_view_that_is_as_it_should_be_is_equal_and_left_alone(world: World) -> None:
    await fill(world)
    before = await world.content()
    for comparison in await world.compare():
        assert comparison.equal
        assert comparison.name in {one.name for one in PROJECTIONS}
    assert await world.content() == before
    assert not await world.value("SELECT to_regnamespace('rounds_view_check')")
    assert not await world.value("SELECT count(*) FROM eventstore.positions WHERE follower LIKE '%check'")


@pytest.mark.parametrize(
    ("statement", "sides"),
    [
        ("UPDATE rounds_view.players SET staked = staked + 1 WHERE round = 't1.2' AND player = 'p1'", 2),
        ("DELETE FROM rounds_view.windows WHERE round = 't1.1' AND kind = 'betting'", 1),
        (
            """INSERT INTO rounds_view.declines (round, player, currency, reason, number)
               VALUES ('t1.1', 'p1', 'EUR', 'made_up', 1)""",
            1,
        ),
    ],
)
async def test_a_row_that_its_events_do_not_make_is_found(world: World, statement: str, sides: int) -> None:
    await fill(world)
    await world.owner.execute(statement)
    rounds, accounts, tables = await world.compare()
    assert not rounds.equal
    assert len(rounds.differences) == sides
    assert f"rounds_view.{rounds.differences[0].table} " in statement
    assert accounts.equal
    assert tables.equal


async def test_a_view_is_compared_while_it_goes_on(world: World) -> None:
    await fill(world)
    later = [random_round("three-box@1", number, table="later", number=number) for number in range(1, 8)]

    async def go_on() -> None:
        for one in later:
            await world.keep(one)
            await world.apply(ROUNDS)

    async with PostgresEventStore(world.owner) as reader:
        found, _ = await asyncio.gather(compare_projection(reader, world.owner, ROUNDS), go_on())
        assert found.equal, found
        assert (await compare_projection(reader, world.owner, ROUNDS)).tables["rounds"] == 11


async def test_what_an_interrupted_comparison_left_is_gone_with_the_next(world: World) -> None:
    await fill(world)
    await world.owner.execute("CREATE SCHEMA rounds_view_check; CREATE TABLE rounds_view_check.rounds ()")
    assert (await world.compare())[0].equal


async def test_a_rebuilt_view_is_the_same(world: World, service_role: str) -> None:
    await fill(world)
    before = await world.content()
    async with PostgresEventStore(world.owner) as reader:
        for projection in PROJECTIONS:
            await rebuild_projection(reader, world.owner, projection, grant_to=service_role)
    assert await world.content() == before
    # The service goes on with it.
    await world.keep(random_round("classic@1", 5, table="after"))
    await world.catch_up()
    assert len((await world.content())["rounds_view.rounds"]) == 5


async def test_a_view_of_another_version_is_neither_compared_nor_made_anew(world: World) -> None:
    await world.owner.execute("UPDATE eventstore.projections SET version = 99 WHERE name = 'rounds_view'")
    async with PostgresEventStore(world.owner) as reader:
        with pytest.raises(ProjectionOutdated):
            await compare_projection(reader, world.owner, ROUNDS)
    async with world.owner.acquire() as connection:
        with pytest.raises(ProjectionOutdated):
            await prepare_history(connection)
        names = [one.name for one in await projection_status(connection)]
    assert names == sorted(one.name for one in PROJECTIONS)


async def test_an_event_of_a_newer_program_stops_a_view_and_is_not_guessed(world: World) -> None:
    await world.tell("round-t1.1", "RoundPaused", "2026-01-01T12:00:00.000000Z", {})
    with pytest.raises(EventIsNewer):
        await world.apply(ROUNDS)
    # A table may say more than history looks at.
    await world.tell("table-t1", "RobotSignedIn", "2026-01-01T12:00:00.000000Z", {})
    await world.apply(PROJECTIONS[2])
