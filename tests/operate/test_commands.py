"""The command `upcard` on real databases: what it shows, what it does, and with which status it ends."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import pytest

from eventstore import Expect, RecordedEvent
from eventstore.following import Applier
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, PostgresEventStore, open_pool
from messaging.relay.positions import claim_positions, store_positions
from messaging.topics import topic_of
from stack import Stack
from stack.threads import run_apart
from tests.eventstore.following.effects import QUICK, page_of
from tests.eventstore.samples import event, events, stream_of_shard
from tests.operate.conftest import Upcard, objects
from upcard_operate.options import SERVICES
from upcard_operate.preparing import database_of, in_database

SHARD = 7


async def refuse(_: Connection, __: Sequence[RecordedEvent]) -> None:
    """A handler that cannot apply anything."""
    raise ValueError("no such account")


async def park_a_stream(dsn: str) -> str:
    """Let a follower of another service's log fail for good; the stream that is parked then."""
    source = MemoryEventStore()
    stream = stream_of_shard(SHARD)
    await source.append(stream, [event()], expected=Expect.NONE)
    page = await page_of(source, SHARD)
    async with await open_pool(dsn, application_name="test", min_size=1, max_size=2) as pool:
        applied = await Applier(pool, "wallet", "table", refuse, policy=QUICK).apply([page])
    assert applied is not None
    return stream


def test_making_databases_again_changes_nothing(
    upcard: Upcard, databases: dict[str, str], passwords: dict[str, str], stack: Stack
) -> None:
    assert len(databases) == len(SERVICES)
    again = upcard("database", "create", "--json", UPCARD_ADMIN_DSN=stack.databases.admin_dsn, **passwords)
    assert [one["applied"] for one in objects(again)] == [0] * len(SERVICES)
    one = upcard("database", "prepare", "--service", "wallet", "--json", **databases)
    assert objects(one) == [{"service": "wallet", "applied": 0}]


def test_a_services_role_may_append_and_not_change_history(
    databases: dict[str, str], passwords: dict[str, str], stack: Stack
) -> None:
    assert databases
    password = passwords["UPCARD_TABLE_DATABASE_PASSWORD"]
    name = database_of("table")
    dsn = in_database(stack.databases.admin_dsn, name, role=name, password=password)

    async def try_it() -> None:
        async with await open_pool(dsn, application_name="test", min_size=1, max_size=6) as pool:
            async with PostgresEventStore(pool) as store:
                await store.append("table-t1", [event()], expected=Expect.ANY)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await pool.execute("DELETE FROM eventstore.events")

    run_apart(try_it)


def test_what_is_missing_is_said_with_status_2(upcard: Upcard) -> None:
    for arguments, said in (
        (("parked", "list", "--service", "wallet"), "set UPCARD_WALLET_DSN"),
        (("parked", "list", "--service", "casino"), "there is no service 'casino'"),
        (("database", "create"), "Set UPCARD_ADMIN_DSN"),
        (("dlt", "list", "--source", "table"), "set UPCARD_KAFKA_BOOTSTRAP"),
        (("wallet", "balance", "a1"), "Set UPCARD_SIGNING_KEY"),
        (("round", "show", "t1.1"), "Set UPCARD_SIGNING_KEY"),
        (("projections", "rebuild", "--service", "wallet"), "set UPCARD_WALLET_DSN"),
        (("check",), "nothing to look at"),
    ):
        done = upcard(*arguments)
        assert (done.exit_code, said in done.stderr) == (2, True), (arguments, done.stderr)


def test_a_database_that_is_away_is_a_sentence(upcard: Upcard) -> None:
    dsn = "postgresql://someone:hidden-word@127.0.0.1:1/nowhere"
    done = upcard("parked", "list", "--service", "wallet", "--dsn", dsn)
    assert done.exit_code == 1
    assert done.stderr.startswith("the database:")
    assert "hidden-word" not in done.output + done.stderr


def test_parked_streams_are_listed_retried_and_skipped(upcard: Upcard, databases: dict[str, str]) -> None:
    assert "Nothing is parked." in upcard("parked", "list", "--service", "bonus", **databases).stdout
    stream = run_apart(lambda: park_a_stream(databases["UPCARD_BONUS_DSN"]))
    (parked,) = objects(upcard("parked", "list", "--service", "bonus", "--json", **databases))
    assert (parked["stream"], parked["follower"], parked["source"]) == (stream, "wallet", "table")
    assert "no such account" in parked["error"]
    table = upcard("parked", "list", "--service", "bonus", **databases).stdout
    assert "follower" in table
    whose = ("--service", "bonus", "--follower", "wallet", "--source", "table")
    neither = upcard("parked", "retry", *whose, **databases)
    assert (neither.exit_code, "--stream, or --all" in neither.stderr) == (2, True)
    assert objects(upcard("parked", "retry", *whose, "--all", "--json", **databases)) == [{"asked_for": 1}]
    people = ("--by", "staff-1", "--why", "a test event")
    done = upcard("parked", "skip", *whose, "--stream", stream, *people, "--json", **databases)
    assert objects(done) == [{"skipped": stream, "position": 1, "type": "Opened"}]
    again = upcard("parked", "skip", *whose, "--stream", stream, *people, **databases)
    assert again.exit_code == 1


def test_a_relay_is_watched_and_told_to_publish_again(upcard: Upcard, databases: dict[str, str]) -> None:
    dsn, topic = databases["UPCARD_WALLET_DSN"], topic_of("wallet")
    stream = stream_of_shard(SHARD, "account-")

    async def publish() -> None:
        async with await open_pool(dsn, application_name="test", min_size=1, max_size=6) as pool:
            async with PostgresEventStore(pool) as store:
                await store.append(stream, events(5), expected=Expect.ANY)
            async with pool.acquire() as connection:
                await claim_positions(connection, topic, 1)
                await store_positions(connection, topic, 1, [(SHARD, 0, 4)])

    run_apart(publish)
    status, shard = objects(upcard("relay", "status", "--service", "wallet", "--json", **databases))
    assert (status["topic"], status["active"], status["lag"]) == (topic, None, 1)
    assert (shard["shard"], shard["published"], shard["head"]) == (SHARD, 4, 5)
    people = ("--by", "staff-1", "--why", "the broker lost its disk")
    asked = ("relay", "republish", "--service", "wallet", "--from", "2", *people)
    assert upcard(*asked, **databases).exit_code == 2, "which shards?"
    (done,) = objects(upcard(*asked, "--shard", str(SHARD), "--json", **databases))
    assert done == {"shard": SHARD, "from": 2, "events": 3}
    assert (
        objects(upcard("relay", "status", "--service", "wallet", "--json", **databases))[1]["published"] == 1
    )


def test_check_says_what_needs_a_person(upcard: Upcard, databases: dict[str, str]) -> None:
    done = upcard("check", "--json", **databases)
    assert done.exit_code == 1, "no relay is active here"
    found = {(one["service"], one["what"]): one for one in objects(done)}
    assert {service for service, _ in found} == set(SERVICES)
    assert found["table", "an active relay"]["right"] is False
    assert found["wallet", "invariants that do not hold"]["right"] is True


def test_views_are_compared_and_rebuilt(upcard: Upcard, databases: dict[str, str]) -> None:
    listed = objects(upcard("projections", "list", "--json", **databases))
    names = {one["name"] for one in listed}
    assert names
    compared = objects(upcard("projections", "compare", "--json", **databases))
    assert {one["projection"] for one in compared} == names
    assert all(one["equal"] for one in compared)
    rebuilt = upcard("projections", "rebuild", "--json", **databases)
    assert rebuilt.exit_code == 0, rebuilt.stderr
    unknown = upcard("projections", "compare", "no_such_view", **databases)
    assert (unknown.exit_code, "there is no view 'no_such_view'" in unknown.stderr) == (2, True)
