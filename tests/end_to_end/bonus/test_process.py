"""The bonus service as a program: settings, readiness, the table's events, its own, the order of its stop."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable

import asyncpg
import pytest

from messaging.feed import FEED, GrpcFeed
from servicekit.grpc import open_channel
from servicekit.settings import WrongSettings, load_settings
from stack import Stack
from tests.bonus.edges.client import later
from tests.end_to_end.bonus.processes import FOLLOWED, environment, record, rounds, serving
from tests.end_to_end.bonus.reference import expected, outcome_of
from tests.messaging.waiting import until
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import ROOT, in_thread
from upcard_bonus.settings import BonusSettings

SEEDS = range(201, 209)


async def followed(dsn: str, events: int) -> None:
    """Wait until so many of the table's events have had their effect."""
    connection = await asyncpg.connect(dsn)
    try:

        async def all_of_them() -> bool:
            return bool(await connection.fetchval(FOLLOWED) >= events)

        await until(all_of_them, what=f"{events} events followed", timeout_s=60)
    finally:
        await connection.close()


@pytest.mark.parametrize("over_kafka", [True, False], ids=["kafka", "feed alone"])
async def test_rounds_come_to_what_they_should(
    settings: dict[str, str],
    table: Neighbour,
    table_dsn: str,
    database: str,
    new_database: Callable[[], str],
    over_kafka: bool,  # noqa: FBT001 - a parameter
) -> None:
    played = rounds(SEEDS)
    async with contextlib.AsyncExitStack() as exits:
        bonus, client = await exits.enter_async_context(serving(settings))
        if over_kafka:
            await exits.enter_async_context(table.publishing())
        await client.open("j1", tables=["play"])
        done = 0
        for contents in played:
            # One after the other, as at a table: between rounds the jackpot's stream is what orders them.
            await record(table_dsn, [contents])
            done += len(contents)
            await followed(database, done)
        right = await expected(new_database(), played)
        assert await outcome_of(database) == right
        assert any(kind == "JackpotContributed" for _, kind, _ in right.events)
        assert any(kind == "BonusDetermined" for _, kind, _ in right.events)
        feed = open_channel(bonus.address, audience="bonus", services=[FEED])
        async with feed:
            heads = await GrpcFeed(feed, "bonus").heads()
        assert sum(head.position for head in heads.values()) == len(right.events)
        status, body = await in_thread(lambda: bonus.ask("/health/ready"))
        assert status == 200, body
        shown = (await in_thread(lambda: bonus.ask("/metrics")))[1]
        for name in (
            "upcard_bonus_stakes_decided_total",
            "upcard_bonus_contributed_minor_units_total",
            "upcard_bonus_hits_total",
            "upcard_bonus_waiting_rounds",
            "upcard_bonus_fences",
            "upcard_relay_lag_events",
            "upcard_consumer_lag_events",
            "upcard_grpc_server_calls_total",
        ):
            assert f"# HELP {name} " in shown, name
        assert await in_thread(bonus.stop) == 0, bonus.said


async def test_a_free_bet_lapses_by_itself(settings: dict[str, str], database: str) -> None:
    async with serving(settings) as (_, client):
        assert (await client.grant(expires_at=later(seconds=1))).free_bet.left == 500
        connection = await asyncpg.connect(database)
        try:

            async def lapsed() -> object:
                return await connection.fetchval("SELECT expired FROM bonus.free_bets")

            await until(lapsed)
            kinds = await connection.fetch(
                "SELECT type FROM eventstore.events WHERE stream = 'freebet-f1' ORDER BY stream_position"
            )
        finally:
            await connection.close()
    assert [row["type"] for row in kinds] == ["FreeBetGranted", "FreeBetExpired"]


async def test_a_fence_ends_by_itself(settings: dict[str, str], database: str) -> None:
    async with serving({**settings, "UPCARD_FENCE_MAX_S": "1"}) as (_, client):
        await client.open("j1", tables=["play"])
        assert len((await client.fence("play.1")).fences.jackpots) == 1
        connection = await asyncpg.connect(database)
        try:

            async def gone() -> bool:
                return bool(await connection.fetchval("SELECT count(*) = 0 FROM bonus.fences"))

            await until(gone)
        finally:
            await connection.close()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"UPCARD_TABLE_ADDRESS": ""}, "UPCARD_TABLE_ADDRESS"),
        (
            {"UPCARD_KAFKA_REPLICAS": "1", "UPCARD_KAFKA_REPLICAS_IN_SYNC": "2"},
            "UPCARD_KAFKA_REPLICAS_IN_SYNC",
        ),
        ({"UPCARD_KAFKA_NAMESPACE": "a.b"}, "UPCARD_KAFKA_NAMESPACE"),
        ({"UPCARD_JACKPOT_KEYS": '{"k1": "too-short"}'}, "UPCARD_JACKPOT_KEYS"),
        ({"UPCARD_JACKPOT_KEYS": "{}"}, "UPCARD_JACKPOT_KEYS"),
        ({"UPCARD_JACKPOT_KEY": "k2"}, "UPCARD_JACKPOT_KEY"),
        ({"UPCARD_FENCE_MAX_S": "0"}, "UPCARD_FENCE_MAX_S"),
    ],
)
def test_wrong_settings_are_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], named: str
) -> None:
    given = environment(stack, "postgresql://nobody@127.0.0.1:1/none", table="127.0.0.1:1")
    for name, value in {**given, **wrong}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as caught:
        load_settings(BonusSettings)
    assert any(named in problem for problem in caught.value.problems)
    assert not any("too-short" in problem for problem in caught.value.problems)


def test_a_wrong_setting_ends_the_program(stack: Stack) -> None:
    given = environment(stack, "postgresql://nobody@127.0.0.1:1/none", table="")
    done = subprocess.run(
        [sys.executable, "-m", "upcard_bonus"],
        cwd=ROOT,
        env=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "UPCARD_TABLE_ADDRESS" in done.stderr) == (2, True), done.stderr
