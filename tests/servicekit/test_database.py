"""The database as a stage: waited for, refused, watched."""

from __future__ import annotations

import asyncio
import datetime as dt
import functools
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from prometheus_client import generate_latest
from pydantic import SecretStr

from eventstore import Expect, NewEvent, StreamAppend
from eventstore.following import Observer
from eventstore.ids import new_event_id
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, append_in_transaction, open_pool
from eventstore.projections import Projection, ProjectionStatus, prepare_projection
from servicekit.database import (
    Component,
    FollowerMetrics,
    Monitor,
    appender_figures,
    event_log,
    place_of,
    require_migrated,
)
from servicekit.database.figures import require_projections
from servicekit.health import NotReady
from servicekit.lifecycle import ExitCode
from servicekit.metrics import check_registry, registry
from servicekit.settings import DatabaseSettings
from stack import Stack
from stack.threads import run_apart
from tests.eventstore.held import shard_held, until_waiting
from tests.servicekit.programs import Program, service

PLAN = {"store": True, "database": 30}
BROKER = {"UPCARD_KAFKA_BOOTSTRAP": "127.0.0.1:1"}


def changed(
    dsn: str, *, host: str | None = None, password: str | None = None, path: str | None = None
) -> str:
    parts = urlsplit(dsn)
    netloc = f"{parts.username}:{password or parts.password}@{host or f'{parts.hostname}:{parts.port}'}"
    return urlunsplit(parts._replace(netloc=netloc, path=path or parts.path))


def running(
    dsn: str, plan: dict[str, object] | None = None, **settings: str
) -> AbstractContextManager[Program]:
    return service({**PLAN, **(plan or {})}, UPCARD_DSN=dsn, **BROKER, **settings)


def metric(program: Program, line: str) -> bool:
    return any(one.startswith(line) for one in program.ask("/metrics")[1].splitlines())


def test_a_database_that_is_there(database: str) -> None:
    with running(database) as program:
        program.until("running")
        said = program.until_ready(ready=True)
        assert said["checks"]["database"]["ok"] is True
        while not metric(program, "upcard_database_reachable 1.0"):
            pass
        assert metric(program, 'upcard_database_pool_connections_max{pool="main"} 16.0')
        assert metric(program, "upcard_clock_skew_seconds ")
        assert metric(program, "upcard_event_log_months_ahead 3.0")
        assert not metric(program, "upcard_shard_held_seconds{")
        program.signal()
        assert program.code() == ExitCode.STOPPED
        assert program.stages("stopped") == ["database monitor", "database figures", "database"]
        assert program.lines(logger="py.warnings") == []  # nothing was left open
        assert program.errors == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password": "not-the-one"}, "refuses us (it answers 28P01"),
        ({"path": "/no_such_database"}, "refuses us (it answers 3D000"),
    ],
)
def test_a_database_that_refuses_us_is_not_waited_for(
    database: str, change: dict[str, str], said: str
) -> None:
    with running(changed(database, **change)) as program:
        assert program.code() == ExitCode.NOT_STARTED
        why = program.lines("the service cannot start")[0]["why"]
        assert said in why
        assert "UPCARD_DSN" in why
        assert str(urlsplit(database).password) not in program.output + program.errors
        assert "not-the-one" not in program.output + program.errors


def test_a_database_that_is_away_is_waited_for_so_long(database: str) -> None:
    with running(changed(database, host="127.0.0.1:1"), {"database": 1}) as program:
        assert program.code() == ExitCode.NOT_STARTED
        assert program.lines("the database is not there yet")
        why = program.lines("the service cannot start")[0]["why"]
        assert why.startswith("the database at 127.0.0.1:1/")
        assert "is not to be had after 1 s: it cannot be reached" in why


def test_a_signal_while_it_waits_for_the_database(database: str) -> None:
    with running(changed(database, host="127.0.0.1:1"), {"stages": [{"name": "one"}]}) as program:
        program.until("the database is not there yet")
        program.signal()
        assert program.code() == ExitCode.STOPPED
        assert program.stages("stopped") == ["one"]


def test_a_database_without_tables_is_waited_for(stack: Stack) -> None:
    empty = run_apart(lambda: stack.databases.create("kit_empty"))
    with running(empty, {"database": 1}) as program:
        assert program.code() == ExitCode.NOT_STARTED
        why = program.lines("the service cannot start")[0]["why"]
        assert "lacks" in why
        assert "migrations of eventstore, from 0001_log on: run the migrations, as the owner" in why


def test_a_connection_that_is_never_given_back_holds_up_no_stop(database: str) -> None:
    with running(database, {"hold": True}, UPCARD_STOP_DEADLINE_S="1") as program:
        program.until("now", doing="holding")
        program.signal()
        assert program.code() == ExitCode.STOPPED_BADLY
        assert program.lines("a stage did not stop in time", stage="database")
        assert program.lines("ended")


def test_a_clock_that_is_off_refuses_the_start(database: str) -> None:
    with running(database, {"clock_off_s": 0.2}) as program:
        assert program.code() == ExitCode.NOT_STARTED
        assert "clock is ahead of the database's by" in program.lines("the service cannot start")[0]["why"]
    with running(database, {"clock_off_s": 0.2}, UPCARD_CLOCK_SKEW_MAX_MS="1000") as program:
        program.until("running")


def test_a_database_that_goes_away_and_comes_back(private_stack: Stack) -> None:
    async def prepare() -> str:
        dsn = await private_stack.databases.create("kit_away")
        connection = await asyncpg.connect(dsn)
        await prepare_event_log(connection)
        await connection.close()
        return dsn

    with running(run_apart(prepare)) as program:
        program.until_ready(ready=True)
        private_stack.postgres.kill()
        said = program.until_ready(ready=False)
        assert said["checks"]["database"]["problem"].startswith("the database does not answer (")
        program.until("the database does not answer its monitor")
        assert program.ask("/health/live")[0] == 200
        private_stack.postgres.start()
        program.until_ready(ready=True)
        program.until("ready again", check="database")
        private_stack.postgres.pause()  # it is there, and says nothing
        said = program.until_ready(ready=False)
        assert said["checks"]["database"]["problem"] == "no answer within 3 s"
        private_stack.postgres.resume()
        program.until_ready(ready=True)
        private_stack.postgres.pause()
        program.signal()  # nobody answers, and the stop ends all the same
        assert program.code() in {ExitCode.STOPPED, ExitCode.STOPPED_BADLY}
        assert program.lines("ended")
        private_stack.postgres.resume()


async def test_who_holds_a_shard_is_named_in_a_metric_and_a_line(database: str) -> None:
    with running(database, UPCARD_SHARD_HELD_ALARM_S="0.01") as program:
        await asyncio.to_thread(program.until, "running")
        async with shard_held(database, 7, application_name="culprit"):
            waiter = await asyncpg.connect(database)
            waiting = asyncio.create_task(
                waiter.execute("SELECT FROM eventstore.shard_heads WHERE shard = 7 FOR NO KEY UPDATE")
            )
            watcher = await asyncpg.connect(database)
            await until_waiting(watcher)
            said = "a session holds shards for too long"
            line = await asyncio.to_thread(functools.partial(program.until, said, waiting=1))
            assert (line["application"], line["shards"]) == ("culprit", [7])
            assert "shard = ANY ($1::int[])" in line["statement"]
            labels = '{application="culprit",client="127.0.0.1"}'
            assert await asyncio.to_thread(metric, program, f"upcard_shard_held_seconds{labels}")
            assert await asyncio.to_thread(metric, program, f"upcard_shard_waiters{labels} 1.0")
        await waiting
        await waiter.close()
        await watcher.close()
        while await asyncio.to_thread(metric, program, "upcard_shard_held_seconds{"):
            assert program.process.poll() is None
        assert len(program.lines(said, application="culprit")) <= 2  # once for each change, not for each look


@pytest.fixture
def settings(database: str) -> DatabaseSettings:
    return DatabaseSettings(dsn=SecretStr(database))


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with await open_pool(database, application_name="test", min_size=1, max_size=1) as made:
        yield made


async def test_a_full_pool_does_not_blind_the_monitor(settings: DatabaseSettings, pool: Pool) -> None:
    monitor = Monitor(settings, "test", [event_log()], pools={"main": pool}, has_event_log=True)
    async with pool.acquire():
        assert await monitor.look()
        await monitor.check()
        figures = {
            (sample.name, sample.labels.get("state")): sample.value
            for family in monitor.collect()
            for sample in family.samples
        }
        assert figures["upcard_database_pool_connections", "busy"] == 1
        assert figures["upcard_database_pool_connections", "idle"] == 0
    await monitor.close()


async def test_a_check_that_is_given_up_does_not_get_the_next_ones_answer(settings: DatabaseSettings) -> None:
    monitor = Monitor(settings, "test", [event_log()], pools={}, has_event_log=True)
    await monitor.check()
    asking = asyncio.create_task(monitor.check())
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await monitor.check()
    assert await monitor.look()
    await monitor.close()


async def test_a_database_that_is_newer_or_other_is_not_ours(pool: Pool) -> None:
    log = event_log()
    async with pool.acquire() as connection:
        await require_migrated(connection, [log])
        with pytest.raises(NotReady, match="another version of the program"):
            await require_migrated(connection, [Component(log.name, log.migrations[:-1])])
        with pytest.raises(NotReady, match=r"lacks \d+ migrations of other, from 0001_log on"):
            await require_migrated(connection, [log, Component("other", log.migrations)])


async def test_a_role_that_may_not_look_is_told_what_it_needs(stack: Stack, database: str) -> None:
    admin = await asyncpg.connect(changed(stack.addresses.admin_dsn, path=urlsplit(database).path))
    await admin.execute("CREATE ROLE kit_nobody LOGIN")
    await admin.execute("REVOKE SELECT ON public.applied_migrations FROM PUBLIC")
    await admin.execute("SET ROLE kit_nobody")
    try:
        with pytest.raises(NotReady, match="grant it SELECT"):
            await require_migrated(admin, [event_log()])
    finally:
        await admin.execute("RESET ROLE")
        await admin.execute("GRANT SELECT ON public.applied_migrations TO PUBLIC")
        await admin.execute("DROP ROLE kit_nobody")
        await admin.close()


@pytest.mark.parametrize(
    ("dsn", "place"),
    [
        ("postgresql://u:p@h:1/d", "h:1/d"),
        ("postgresql://u:p@h/d?sslmode=require", "h/d"),
        ("postgresql://u:p@ss@one:1,two:2/d", "one:1,two:2/d"),
        ("postgresql:///d?host=x", "?/d"),
    ],
)
def test_a_place_has_no_secrets(dsn: str, place: str) -> None:
    assert place_of(dsn) == place


def test_figures_of_an_appender() -> None:
    with appender_figures(lambda: 3, lambda: 4):
        text = generate_latest(registry()).decode()
        check_registry(registry())
    assert "upcard_appends_waiting 3.0" in text
    assert "upcard_wake_ups_lost_total 4.0" in text
    assert "upcard_appends_waiting" not in generate_latest(registry()).decode()


async def nothing(*_: object) -> None:
    """Make no tables, apply no events."""


async def test_a_projection_that_is_behind_or_stopped_is_seen(pool: Pool, database: str) -> None:
    settings = DatabaseSettings(dsn=SecretStr(database), projection_lag_max_events=2)
    monitor = Monitor(settings, "test", [event_log()], pools={}, has_event_log=True)
    async with pool.acquire() as connection:
        await prepare_projection(connection, Projection("kit_view", 1, nothing, nothing))
        await monitor.check_projections()
        for number in range(3):
            event = NewEvent(new_event_id(), "X", b"{}")
            await append_in_transaction(
                connection, [StreamAppend(f"round-t1.{number}", Expect.NONE, [event])]
            )
    with pytest.raises(NotReady, match="the projection kit_view is 3 events behind, at most 2 are borne"):
        await monitor.check_projections()
    assert await monitor.look()
    figures = {sample.name: sample.value for family in monitor.collect() for sample in family.samples}
    assert figures["upcard_projection_lag_events"] == 3
    assert figures["upcard_projection_stopped"] == 0
    await monitor.close()


def status(**changes: Any) -> ProjectionStatus:
    now = dt.datetime.now(dt.UTC)
    settled = ProjectionStatus("kit_view", 1, False, now, 5, 5, 0, 0, now, 0, 0, None)  # noqa: FBT003 - its order
    return replace(settled, **changes)


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (status(), None),
        (status(lag=11), "11 events behind"),
        (status(stopped="failed"), r"stands still \(failed\)"),
        (status(lag=11, rebuilding=True), None),
        (status(parked_streams=3), None),
    ],
)
def test_which_projections_keep_a_service_from_being_ready(
    found: ProjectionStatus, problem: str | None
) -> None:
    if problem is None:
        require_projections([found], 10)
    else:
        with pytest.raises(NotReady, match=problem):
            require_projections([found], 10)


def test_figures_of_followers() -> None:
    figures: Observer = FollowerMetrics()
    figures.applied("view", "own", 5, 0.01)
    figures.skipped("view", "own", "duplicate", 2)
    figures.retried("view", "own", "away")
    figures.parked("view", "own", "round-t1.7")
    figures.unparked("view", "own", "round-t1.7")
    figures.stopped("view", "own", 3, "forked")
    figures.lag("view", "own", 3, 7)
    text = generate_latest(registry()).decode()
    check_registry(registry())
    for line in (
        'upcard_follower_events_applied_total{follower="view",source="own"} 5.0',
        'upcard_follower_transaction_duration_seconds_count{follower="view",source="own"} 1.0',
        'upcard_follower_events_skipped_total{follower="view",source="own",why="duplicate"} 2.0',
        'upcard_follower_retries_total{follower="view",source="own",why="away"} 1.0',
        'upcard_follower_streams_parked_total{follower="view",source="own"} 1.0',
        'upcard_follower_streams_unparked_total{follower="view",source="own"} 1.0',
        'upcard_follower_stops_total{follower="view",kind="forked",source="own"} 1.0',
        'upcard_follower_lag_events{follower="view",shard="3",source="own"} 7.0',
    ):
        assert line in text
    assert "round-t1.7" not in text  # streams have no end: they are in the log alone


async def test_a_role_of_its_own_with_its_rights_can_be_ready(stack: Stack, database: str) -> None:
    admin = await asyncpg.connect(changed(stack.addresses.admin_dsn, path=urlsplit(database).path))
    owner = await asyncpg.connect(database)
    await admin.execute("CREATE ROLE kit_service LOGIN PASSWORD 'kit-service'")
    try:
        await prepare_event_log(owner, service_role="kit_service")
        place = urlsplit(database)
        dsn = f"postgresql://kit_service:kit-service@{place.hostname}:{place.port}{place.path}"
        settings = DatabaseSettings(dsn=SecretStr(dsn))
        monitor = Monitor(settings, "test", [event_log()], pools={}, has_event_log=True)
        assert await monitor.look()
        await monitor.check()
        await monitor.check_projections()
        await monitor.close()
    finally:
        await owner.close()
        await admin.execute("DROP OWNED BY kit_service")
        await admin.execute("DROP ROLE kit_service")
        await admin.close()
