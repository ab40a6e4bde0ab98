"""The bonus service is killed at each named point; whatever was under way has one effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

import asyncpg
import grpc.aio
import pytest

from tests.bonus.edges.client import Client, fresh, later
from tests.end_to_end.bonus.processes import record, rounds, serving
from tests.end_to_end.bonus.reference import expected, outcome_of
from tests.end_to_end.bonus.test_process import followed
from tests.messaging.waiting import until
from tests.wallet.edges.processes import in_thread
from upcard_bonus.entrypoints import faults

CALLS: Final = ("bonus.call.before_commit", "bonus.call.committed")
UPKEEP: Final = ("bonus.upkeep.before_commit", "bonus.upkeep.committed")
DEATH_S: Final = 90.0
"""A member of a group that was killed is waited for by the broker before its partitions are given away."""
FOLLOWING: Final = ("follow.before_commit", "follow.committed")


def test_every_point_is_killed_at() -> None:
    assert {*CALLS, *UPKEEP} == faults.POINTS


async def test_a_call_that_is_cut_off_has_one_effect(
    settings: dict[str, str], database: str, tmp_path: Path
) -> None:
    """Each process repeats the calls that killed the one before it, and is killed at the next point."""
    kill_at = tmp_path / "point"
    again: list[Callable[[Client], Awaitable[None]]] = []
    for number, point in enumerate((*CALLS, None)):
        kill_at.write_text("")
        async with serving(settings, kill_at=kill_at) as (bonus, client):
            for one in (*again, *again):
                await one(client)
            if point is None:
                break
            await client.open(f"o{number}", tables=[f"o{number}"])
            again = [_open(f"j{number}"), _grant(f"f{number}"), _fence(f"o{number}")]
            kill_at.write_text(point)
            with pytest.raises(grpc.aio.AioRpcError):
                await again[number % len(again)](client)
            assert await in_thread(partial(bonus.process.wait, DEATH_S)) == -9, point
    connection = await asyncpg.connect(database)
    try:
        rows = await connection.fetch(
            "SELECT stream, array_agg(type ORDER BY stream_position) AS types"
            "  FROM eventstore.events GROUP BY stream"
        )
    finally:
        await connection.close()
    types = {row["stream"]: row["types"] for row in rows}
    for number in range(len(CALLS)):
        assert types[f"jackpot-j{number}"] == ["JackpotOpened", "JackpotSeeded"]
        assert types[f"freebet-f{number}"] == ["FreeBetGranted"]
        assert types[f"jackpot-o{number}"] == ["JackpotOpened", "JackpotSeeded", "JackpotFenced"]


async def test_what_lapses_while_it_is_killed_lapses_once(
    settings: dict[str, str], database: str, tmp_path: Path
) -> None:
    kill_at = tmp_path / "point"
    for number, point in enumerate(UPKEEP):
        kill_at.write_text("")
        async with serving(settings, kill_at=kill_at) as (bonus, client):
            # Granted before it is to be killed: the one before it may lapse at any moment.
            await client.grant(f"f{number}", expires_at=later(seconds=2.0))
            kill_at.write_text(point)
            assert await in_thread(partial(bonus.process.wait, DEATH_S)) == -9, point
    async with serving(settings):
        connection = await asyncpg.connect(database)
        try:

            async def all_lapsed() -> bool:
                return not await connection.fetchval("SELECT count(*) FROM bonus.free_bets WHERE NOT expired")

            await until(all_lapsed)
            lapses = await connection.fetch(
                "SELECT stream, count(*) AS number FROM eventstore.events"
                " WHERE type = 'FreeBetExpired' GROUP BY stream"
            )
        finally:
            await connection.close()
    assert {row["stream"]: row["number"] for row in lapses} == {"freebet-f0": 1, "freebet-f1": 1}


async def test_rounds_that_are_followed_while_it_is_killed_have_one_effect(
    settings: dict[str, str],
    table_dsn: str,
    database: str,
    new_database: Callable[[], str],
    tmp_path: Path,
) -> None:
    """Killed at both points of following, again and again, in the middle of rounds."""
    played = rounds(range(301, 305))
    kill_at = tmp_path / "point"
    kill_at.write_text("")
    done = 0
    for number, point in enumerate((*FOLLOWING, *FOLLOWING)):
        async with serving(settings, kill_at=kill_at) as (bonus, client):
            if number == 0:
                await client.open("j1", tables=["play"])
            await followed(database, done)
            kill_at.write_text(point)
            await record(table_dsn, [played[number]])
            done += len(played[number])
            assert await in_thread(partial(bonus.process.wait, DEATH_S)) == -9, point
            kill_at.write_text("")
    async with serving(settings):
        await followed(database, done)
    assert await outcome_of(database) == await expected(new_database(), played)


def _open(name: str) -> Callable[[Client], Awaitable[None]]:
    request_id = fresh()

    async def again(client: Client) -> None:
        answer = await client.open(name, request_id=request_id, tables=[name], must_hit_by=9_000)
        assert answer.jackpot.pool == 1_000

    return again


def _grant(name: str) -> Callable[[Client], Awaitable[None]]:
    request_id, expires_at = fresh(), later()

    async def again(client: Client) -> None:
        answer = await client.grant(name, request_id=request_id, expires_at=expires_at)
        assert answer.free_bet.left == 500

    return again


def _fence(name: str) -> Callable[[Client], Awaitable[None]]:
    request_id = fresh()

    async def again(client: Client) -> None:
        answer = await client.fence(f"{name}.1", request_id)
        assert [one.jackpot for one in answer.fences.jackpots] == [name]

    return again
