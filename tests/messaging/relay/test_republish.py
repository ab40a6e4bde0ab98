"""Publishing again, from any position: asked of the database, done by whoever is active."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from eventstore import Expect
from eventstore.postgres import Connection, Pool, PostgresEventStore
from messaging.broker import BrokerSettings
from messaging.command_line import DSN_SETTING, main
from messaging.relay import NothingToRepublish, Relay, Republication, relay_positions, republish
from messaging.relay.reading import Turn, read_turn
from tests.eventstore.samples import events, stream_of_shard
from tests.messaging.relay.rig import Rig
from tests.messaging.relay.watching import (
    DEADLINE_S,
    Watcher,
    events_of,
    records,
    running,
    until,
    until_published,
)

NewRelay = Callable[..., Relay]


async def fill(store: PostgresEventStore) -> None:
    for shard in (5, 6):
        await store.append(stream_of_shard(shard), events(6), expected=Expect.ANY)


async def positions_in(broker: BrokerSettings, topic: str) -> dict[int, list[int]]:
    """Positions in the topic, by shard, in the order in which they lie there."""
    found = events_of(await records(broker, topic))
    return {shard: [one.shard_position for one in batch] for shard, batch in found.items() if batch}


async def again(pool: Pool, topic: str, *shards: int, from_position: int) -> tuple[Republication, ...]:
    async with pool.acquire() as connection:
        return await republish(
            connection, topic, shards, from_position=from_position, asked_by="a test", reason="to see it"
        )


def noticed(watcher: Watcher, times: int) -> bool:
    """Whether the relay has noticed so often that a position was moved."""
    return len(watcher.resets) >= times


async def test_while_a_relay_is_active(rig: Rig) -> None:
    await fill(rig.store)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
        assert await again(rig.pool, rig.topic, 5, from_position=3) == (Republication(5, 3, 6),)
        await until(lambda: rig.watcher.resets, "it has noticed")
        await until_published(rig.pool, rig.topic)
        await fill(rig.store)
        await until_published(rig.pool, rig.topic)
    assert rig.watcher.resets == [(5, 2)]
    assert await positions_in(rig.broker, rig.topic) == {
        5: [1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        6: list(range(1, 13)),
    }


async def test_while_none_is(rig: Rig) -> None:
    await fill(rig.store)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
    assert len(await again(rig.pool, rig.topic, 5, 6, from_position=1)) == 2
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
    assert await positions_in(rig.broker, rig.topic) == {
        shard: [*range(1, 7), *range(1, 7)] for shard in (5, 6)
    }


async def test_while_appends_go_on(rig: Rig) -> None:
    """Whatever the relay is doing at that moment, everything from there on comes again, in order."""
    await fill(rig.store)
    async with running(rig.new_relay(store_interval_s=0.001)):
        await until_published(rig.pool, rig.topic)
        for round_number in range(1, 6):
            await asyncio.gather(
                *(rig.store.append(stream_of_shard(5), events(3), expected=Expect.ANY) for _ in range(10)),
                again(rig.pool, rig.topic, 5, from_position=1),
            )
            await until(partial(noticed, rig.watcher, round_number), "it has noticed")
            await until_published(rig.pool, rig.topic)
    positions = (await positions_in(rig.broker, rig.topic))[5]
    assert positions.count(1) >= 6
    last = max(place for place, position in enumerate(positions) if position == 1)
    tail = positions[last:]
    assert [one for n, one in enumerate(tail) if one > max(tail[:n], default=0)] == list(range(1, 157))


async def test_a_turn_that_was_read_before_it_counts_no_more(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = asyncio.Event(), asyncio.Event()

    async def read(
        connection: Connection, spans: dict[int, tuple[int, int]], max_bytes: int
    ) -> tuple[Turn, dict[int, Exception]]:
        found = await read_turn(connection, spans, max_bytes)
        if spans.get(5) == (6, 9):
            reading.set()
            await go_on.wait()
        return found

    monkeypatch.setattr("messaging.relay.session.read_turn", read)
    await fill(rig.store)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
        await rig.store.append(stream_of_shard(5), events(3), expected=6)
        await reading.wait()
        await again(rig.pool, rig.topic, 5, from_position=4)
        await until(lambda: rig.watcher.resets, "it has noticed")
        go_on.set()
        await until_published(rig.pool, rig.topic)
    assert (await positions_in(rig.broker, rig.topic))[5] == [1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9]


async def test_it_is_noted_who_asked_and_why(
    store: PostgresEventStore, pool: Pool, topic: str, new_relay: NewRelay
) -> None:
    await fill(store)
    async with running(new_relay()):
        await until_published(pool, topic)
    await again(pool, topic, 5, from_position=2)
    async with pool.acquire() as connection:
        (note,) = await connection.fetch(
            "SELECT topic, shard, from_position, position_before, asked_by, reason"
            " FROM messaging.republications"
        )
    assert tuple(note) == (topic, 5, 2, 6, "a test", "to see it")


async def test_what_is_not_published_that_far_is_left_as_it_is(
    store: PostgresEventStore, pool: Pool, topic: str, new_relay: NewRelay
) -> None:
    await fill(store)
    async with running(new_relay()):
        await until_published(pool, topic)
    assert await again(pool, topic, 4, 5, 7, from_position=6) == (Republication(5, 6, 6),)
    with pytest.raises(NothingToRepublish):
        await again(pool, topic, 5, from_position=6)
    with pytest.raises(NothingToRepublish):
        await again(pool, "another-topic", 6, from_position=1)


@pytest.mark.parametrize(
    ("shards", "from_position"), [((), 1), ((64,), 1), ((-1,), 1), ((5,), 0), ((5,), -3)]
)
async def test_what_cannot_be_asked(
    pool: Pool, topic: str, shards: tuple[int, ...], from_position: int
) -> None:
    with pytest.raises(ValueError, match=r"a shard is|a position of"):
        await again(pool, topic, *shards, from_position=from_position)


@dataclass
class Commands:
    """`python -m messaging`, in this process: starting one takes seconds."""

    captured: pytest.CaptureFixture[str]

    async def __call__(self, *arguments: str) -> tuple[int | str | None, str, str]:
        """Carry out one command: its status, what it says, and on the error stream."""
        try:
            status: int | str | None = await asyncio.to_thread(main, arguments)
        except SystemExit as ended:
            status = ended.code
        said = self.captured.readouterr()
        return status, said.out, said.err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


async def test_by_command(rig: Rig, command: Commands) -> None:
    await fill(rig.store)
    where = ["--dsn", rig.database, "--topic", rig.topic]
    status, out, _ = await command("relay", "status", *where)
    assert (status, "active relay: none   lag: 12 events" in out) == (0, True)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
        status, out, _ = await command("relay", "status", *where, "--all")
        assert status == 0
        assert "token 1   lag: 0 events" in out
        assert "shard  5   published 6   head 6   lag 0" in out
    why = ["--reason", "to see it", "--by", "a test"]
    shards = ["--shard", "5", "--shard", "9"]
    status, out, _ = await command("relay", "republish", *where, *shards, "--from", "4", *why)
    assert status == 0
    assert out.splitlines() == [
        "shard 5: published again from 4: 3 events, and what follows",
        "not published that far, left as they are: 9",
    ]
    async with rig.pool.acquire() as connection:
        assert (await relay_positions(connection, rig.topic))[5].position == 3
    status, out, errors = await command("relay", "republish", *where, "--all-shards", "--from", "99", *why)
    assert (status, out) == (1, "")
    assert "none of the shards" in errors


async def test_commands_that_cannot_be(
    database: str, command: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DSN_SETTING, raising=False)
    assert (await command("relay", "status", "--dsn", database, "--service", "No Such"))[0] == 1
    assert (await command("relay", "status", "--dsn", database))[0] == 2
    assert (await command("relay"))[0] == 2
    nobody = "postgresql://nobody:none@127.0.0.1:1/none"
    assert (await command("relay", "status", "--dsn", nobody, "--service", "table"))[0] == 1
    status, _, errors = await command("relay", "status", "--service", "table")
    assert status == 2
    assert DSN_SETTING in errors


async def test_the_database_may_be_named_by_the_environment(
    database: str, command: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DSN_SETTING, database)
    assert (await command("relay", "status", "--service", "table"))[0] == 0


def test_as_a_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "messaging", "relay", "--help"],
        capture_output=True,
        check=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert "republish" in ran.stdout
