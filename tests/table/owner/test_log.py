"""The owner's log on Postgres: what one transaction holds, and what is known after a lost one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from eventstore import NewEvent, OutcomeUnknown, StreamAppend, VersionConflict
from eventstore.answers import AnswerExists, AnswerKey, NewAnswer
from eventstore.faults import arm
from eventstore.ids import new_event_id
from tests.table.owner.world import KEYS, TABLE, Owned, owned_table
from upcard_table.adapters.postgres import states
from upcard_table.adapters.postgres.log import PostgresTableLog
from upcard_table.app.ports import Batch, LogAway, Notes, PreviousOwner

STREAM = "round-t1.1"


def events(count: int, private: bytes | None = None) -> tuple[NewEvent, ...]:
    """So many events."""
    return tuple(NewEvent(new_event_id(), "Something", b"{}", private) for _ in range(count))


def batch(count: int = 1, *, at: int = 0, answer: str | None = None, notes: Notes | None = None) -> Batch:
    """A batch of so many events of a round."""
    answers = () if answer is None else (NewAnswer(AnswerKey("c", "m", answer), bytes(32), b"answer"),)
    return Batch("t1", (StreamAppend(STREAM, at, events(count)),), answers, notes or Notes())


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[Owned]:
    """A log, and no owner."""
    async with owned_table(service_database) as owned:
        yield owned


async def test_more_events_than_one_append_takes_are_one_transaction(world: Owned) -> None:
    """Ten thousand players for whom the platform chooses, and the closing event."""
    await world.log.store(batch(12_001, notes=Notes(opened=True, opened_round=1)))
    assert (await world.store.stream_head(STREAM)).position == 12_001
    wrong = replace(batch(12_001, at=12_001), appends=(StreamAppend(STREAM, 12_000, events(12_001)),))
    with pytest.raises(VersionConflict):
        await world.log.store(wrong)
    assert (await world.store.stream_head(STREAM)).position == 12_001


async def test_nothing_of_a_batch_stays_when_a_part_of_it_cannot(world: Owned) -> None:
    await world.log.store(batch(answer="r1", notes=Notes(opened=True)))
    with pytest.raises(AnswerExists):
        await world.log.store(batch(at=1, answer="r1", notes=Notes(opened_round=7)))
    with pytest.raises(VersionConflict):
        await world.log.store(batch(at=9, answer="r2", notes=Notes(opened_round=7)))
    assert (await world.store.stream_head(STREAM)).position == 1
    assert not await world.log.find_answers([AnswerKey("c", "m", "r2")])
    assert (await world.log.hints("t1")).last_round == 1  # found beyond the note, which names none


@pytest.mark.parametrize("point", ["table.batch.before_commit", "table.batch.committed"])
@pytest.mark.parametrize("with_events", [True, False], ids=["events", "answers alone"])
async def test_a_connection_that_is_lost_at_the_commit_is_looked_into(
    world: Owned, point: str, *, with_events: bool
) -> None:
    left = [point]

    def cut(reached: str) -> None:
        if left and reached == left[0]:
            left.clear()
            raise asyncpg.ConnectionDoesNotExistError("cut")

    one = batch(2, answer="r1", notes=Notes(opened=True))
    one = one if with_events else replace(one, appends=())
    with arm(cut):
        await world.log.store(one)
    assert not left
    assert (await world.store.stream_head(STREAM)).position == (2 if with_events else 0)
    assert set(await world.log.find_answers([AnswerKey("c", "m", "r1")])) == {AnswerKey("c", "m", "r1")}


async def test_an_outcome_that_cannot_be_found_out_is_said_to_be_unknown(world: Owned) -> None:
    def cut(_: str) -> None:
        raise asyncpg.ConnectionDoesNotExistError("cut")

    with arm(cut), pytest.raises(OutcomeUnknown):
        await world.log.store(batch())


async def test_a_database_that_is_away_is_said_to_be(world: Owned) -> None:
    log = PostgresTableLog(world.pool, KEYS, world.store.announce)
    await world.store.close()
    await world.pool.close()
    with pytest.raises(LogAway):
        await log.load(STREAM)
    with pytest.raises(LogAway):
        await log.hints("t1")


async def test_a_table_as_old_as_it_may_be_is_not_read_from_its_beginning(
    world: Owned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SAVED_AFTER", 6)
    await world.begin()
    await world.prepare()
    for _ in range(4):
        await world.table_shuffled()
    await world.end()
    state, position = await world.log.load_table(TABLE)
    assert position == 8
    # Whatever came before the snapshot is not asked for any more.
    await world.pool.execute(
        "UPDATE eventstore.snapshots"
        " SET state = convert_to(replace(convert_from(state, 'UTF8'), '\"d1\"', '\"d7\"'), 'UTF8')"
    )
    await world.begin(token=2)
    await world.table_shuffled()
    found, after = await world.log.load_table(TABLE)
    assert after == 9
    assert (state.dealer, found.dealer) == ("d1", "d7")
    assert found.decks == state.decks


async def test_what_is_noted_follows_the_owners(world: Owned) -> None:
    log = world.log
    assert (await log.take_over("t1", None)).outage_since_us is None
    await log.store(batch(notes=Notes(opened=True, opened_round=1, serving_token=1)))
    first = await log.take_over("t1", PreviousOwner(1, 1_000_000))
    assert (first.last_round, first.outage_since_us) == (1, 1_000_000)
    # The second owner never served: what the first one left stands.
    assert (await log.take_over("t1", PreviousOwner(2, 5_000_000))).outage_since_us == 1_000_000
    await log.store(Batch("t1", (), (), Notes(serving_token=3, floor_round=1, unfinished=(1,))))
    hints = await log.hints("t1")
    assert (hints.outage_since_us, hints.floor_round, hints.unfinished) == (None, 1, (1,))
    await log.store(batch(at=1, notes=Notes(floor_round=0, finished=(1,))))
    hints = await log.take_over("t1", PreviousOwner(3, 9_000_000))
    assert (hints.outage_since_us, hints.floor_round, hints.unfinished) == (9_000_000, None, ())


async def test_private_parts_come_with_their_positions_and_no_other_reader(world: Owned) -> None:
    sealed = Batch("t1", (StreamAppend(STREAM, 0, (*events(1), *events(1, b"secret"))),))
    await world.log.store(sealed)
    stored = await world.log.load(STREAM)
    assert stored.private == {2: b"secret"}
    assert "secret" not in repr(stored)
    assert [content async for page in world.store.iterate_contents(STREAM) for content in page] == [b"{}"] * 2
