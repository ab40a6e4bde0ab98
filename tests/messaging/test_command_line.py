from __future__ import annotations

import asyncio

import pytest

from eventstore.following import list_parked
from messaging.command_line import main
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.test_parking import Poisoned
from tests.messaging.consumer.world import FOLLOWER, SERVICE, World, running
from tests.messaging.waiting import until

POISONED = stream_of_shard(4)
WHO = ("--follower", FOLLOWER, "--source", SERVICE)


async def say(database: str, *words: str) -> int:
    """Give a command; its exit status. In a thread, since it runs a loop of its own."""
    return await asyncio.to_thread(main, [*words, "--dsn", database])


async def test_parked_streams_are_listed_tried_again_and_skipped(
    world: World, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = Poisoned({(POISONED, 2), (POISONED, 3)})
    await world.source.append(POISONED, 4)
    await world.source.publish()
    assert await say(database, "consumer", "parked", "list") == 0
    assert capsys.readouterr().out == "nothing is parked\n"
    async with running(world.consumer(handler)):
        await until(lambda: world.seen.of("dead_letters"))
        assert await say(database, "consumer", "parked", "list", "--follower", FOLLOWER) == 0
        listed = capsys.readouterr().out
        assert POISONED in listed
        assert "cannot bear Opened" in listed

        assert await say(database, "consumer", "parked", "retry", *WHO, "--stream", "round-none") == 1
        assert "has parked no such stream" in capsys.readouterr().err
        handler.poison.discard((POISONED, 2))
        assert await say(database, "consumer", "parked", "retry", *WHO, "--all") == 0
        await until(lambda: _parked_at(world, 3))

        act = ("--stream", POISONED, "--by", "eve", "--why", "made by mistake")
        assert await say(database, "consumer", "parked", "skip", *WHO, *act) == 0
        assert f"skipped: {POISONED} at 3 (Opened)" in capsys.readouterr().out
        await until(lambda: _parked_at(world, None))
        assert await say(database, "consumer", "parked", "skip", *WHO, *act) == 1
    rows = await world.pool.fetch("SELECT stream_position FROM public.effects ORDER BY id")
    assert [row[0] for row in rows] == [1, 2, 4]


async def test_dead_letters_are_listed_and_their_streams_tried_again(
    world: World, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = Poisoned({(POISONED, 2)})
    await world.source.append(POISONED, 3)
    await world.source.publish()
    kafka = world.broker.bootstrap_servers
    where = ("--service", SERVICE, "--topic", world.source.topic, "--kafka", kafka)
    assert await say(database, "dead-letters", "list", *where) == 0
    assert capsys.readouterr().out == "there are no dead letters\n"
    async with running(world.consumer(handler)):
        await until(lambda: world.seen.of("dead_letters"))
        await world.source.send_dead_letter(b"nonsense")
        assert await say(database, "dead-letters", "list", *where) == 0
        listed = capsys.readouterr().out
        assert "1 records of the topic are no dead letters" in listed
        assert POISONED in listed
        assert await say(database, "dead-letters", "replay", *where, "--follower", "nobody") == 1
        assert "no dead letter names a stream for nobody" in capsys.readouterr().err
        handler.poison.clear()
        for answer in ("is tried again within seconds", "is not parked any more"):
            assert await say(database, "dead-letters", "replay", *where, "--follower", FOLLOWER) == 0
            assert f"{POISONED}: {answer}" in capsys.readouterr().out
            await until(world.all_applied)
            await until(lambda: _parked_at(world, None))
    await world.assert_once_and_in_order()


async def test_events_are_applied_again_from_a_position_on(
    world: World, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await world.source.append(POISONED, 5)
    await world.source.append(stream_of_shard(5), 1)
    await world.source.publish()
    replay = ("consumer", "replay", *WHO, "--shard", "4", "--shard", "5", "--from", "3")
    assert await say(database, *replay, "--yes") == 1
    assert "has applied nothing of these shards" in capsys.readouterr().err
    async with running(world.consumer()):
        await until(world.all_applied)
        assert await say(database, *replay) == 1
        assert "Money that was paid is paid again" in capsys.readouterr().err
        assert await say(database, *replay, "--yes") == 0
        said = capsys.readouterr().out
        assert "shard 4: 3 events are applied again, from 3 on" in said
        assert "not applied that far, left as they are: 5" in said
        # Nothing comes over Kafka: the running consumer finds out by itself.
        await until(lambda: _count(world, 9))
    assert [one for one in await world.effects() if one[0] == 4] == [(4, n) for n in (1, 2, 3, 4, 5, 3, 4, 5)]
    assert await say(database, "consumer", "positions") == 0
    assert FOLLOWER in capsys.readouterr().out


async def test_a_stopped_shard_is_listed_and_resumed(
    world: World, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await world.source.append(POISONED, 3)
    await world.source.publish()
    consumer = world.consumer()
    async with running(consumer):
        await until(world.all_applied)
        await world.pool.execute("UPDATE eventstore.positions SET hash = sha256('other') WHERE shard = 4")
        await until(lambda: consumer.status.stopped == (4,))
        assert await say(database, "consumer", "stopped", "list") == 0
        assert "forked" in capsys.readouterr().out
        right = (await world.source.events(4))[-1].hash
        await world.pool.execute("UPDATE eventstore.positions SET hash = $1 WHERE shard = 4", right)
        assert await say(database, "consumer", "stopped", "resume", *WHO, "--shard", "4") == 0
        await until(lambda: consumer.status.stopped == ())
        assert await say(database, "consumer", "stopped", "resume", *WHO) == 1
    assert await say(database, "consumer", "stopped", "list") == 0
    assert "nothing stands still" in capsys.readouterr().out


def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPCARD_DSN", raising=False)
    monkeypatch.delenv("UPCARD_KAFKA", raising=False)
    assert main(["consumer", "positions"]) == 2
    assert "which database?" in capsys.readouterr().err
    nowhere = ("--dsn", "postgresql://127.0.0.1:1/none")
    assert main(["dead-letters", "list", "--service", "table", *nowhere]) == 1
    assert "which broker?" in capsys.readouterr().err
    assert main(["dead-letters", "list", "--service", "No!", "--kafka", "127.0.0.1:1", *nowhere]) == 1
    assert "a service is 1 to 40" in capsys.readouterr().err
    assert main(["dead-letters", "list", "--service", "table", "--kafka", "127.0.0.1:1", *nowhere]) == 1
    assert "the dead letters cannot be read" in capsys.readouterr().err
    assert main(["consumer", "positions", *nowhere]) == 1


async def _parked_at(world: World, position: int | None) -> bool:
    async with world.pool.acquire() as connection:
        found = await list_parked(connection)
    return [one.failed_position for one in found] == ([] if position is None else [position])


async def _count(world: World, events: int) -> bool:
    return len(await world.effects()) == events
