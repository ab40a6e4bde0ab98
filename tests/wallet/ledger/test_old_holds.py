"""Old holds are freed by the word of their table's owner, and by nothing else."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import grpc.aio
import pytest

from eventstore import faults
from tests.wallet.ledger.world import ROUND_SETTLED, World, bet, settled
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard_wallet.adapters.postgres.old_holds import QuestionTables
from upcard_wallet.adapters.table import GrpcRoundOwner
from upcard_wallet.app.old_holds import OldCommand, Word
from upcard_wallet.entrypoints.old_holds import OldHolds

OLD_S = 60.0


@dataclass
class Owner:
    """A table's owner that says what a test wants."""

    words: deque[Word | None] = field(default_factory=deque)
    asked: list[OldCommand] = field(default_factory=list)

    async def word_on(self, command: OldCommand, timeout_s: float) -> Word | None:
        assert timeout_s > 0
        self.asked.append(command)
        return self.words.popleft()


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def old(world: World, owner: Owner) -> OldHolds:
    return OldHolds(world.pool, world.wallet, QuestionTables(), owner, world.store.announce, OLD_S)


Age = Callable[..., Awaitable[None]]


@pytest.fixture
async def age(database: str) -> AsyncIterator[Age]:
    """Lets time pass for all holds and questions; the service itself has no right to."""
    owner = await asyncpg.connect(database)

    async def pass_by(seconds: float = 2 * OLD_S) -> None:
        by = dt.timedelta(seconds=seconds)
        async with owner.transaction():
            await owner.execute("ALTER TABLE wallet.holds DISABLE TRIGGER states")
            await owner.execute("UPDATE wallet.holds SET changed_at = changed_at - $1::interval", by)
            await owner.execute("ALTER TABLE wallet.holds ENABLE ALWAYS TRIGGER states")
            await owner.execute("UPDATE wallet.hold_questions SET due_at = due_at - $1::interval", by)

    yield pass_by
    await owner.close()


async def test_only_what_is_old_and_held_is_asked_about(
    world: World, old: OldHolds, owner: Owner, age: Age
) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10), round_name="t1.1"))
    await world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    await world.place(bet((1, "ante", 1_000), bet_id="b2", round_name="t1.2"))
    await age()
    await world.place(bet((1, "ante", 10), bet_id="b3", round_name="t1.3"))
    assert await old.turn() == 0
    assert owner.asked == []


async def test_what_is_declined_is_free(world: World, old: OldHolds, owner: Owner, age: Age) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10), (2, "ante", 20)))
    await world.place(bet((1, "ante", 5), bet_id="b2"))
    await age()
    owner.words.extend(["declined", "staked"])
    assert await old.turn() == 2
    first, second = owner.asked
    assert (first.round, first.player, first.currency, first.bet_id) == ("t1.1", "p1", "EUR", "b1")
    assert sorted((hold.box, hold.wager, hold.amount) for hold in first.holds) == [
        (1, "ante", 10),
        (2, "ante", 20),
    ]
    assert second.bet_id == "b2"
    assert await world.has() == (95, 5, 0, 0)
    await world.all_is_explained()
    assert await old.turn() == 0
    assert await world.pool.fetchval("SELECT string_agg(bet_id, ',') FROM wallet.hold_questions") == "b2"


async def test_without_a_word_it_stays_held_and_is_asked_about_again(
    world: World, old: OldHolds, owner: Owner, age: Age
) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await age()
    owner.words.extend([None, "staked", "declined"])
    assert await old.turn() == 1
    assert await old.turn() == 0, "there is a pause"
    assert await world.has() == (90, 10, 0, 0)
    await age()
    assert await old.turn() == 1
    await age()
    assert await old.turn() == 0, "after a stake a longer one"
    await age(3_600)
    assert await old.turn() == 1
    assert [command.asked for command in owner.asked] == [1, 2, 3]
    assert await world.has() == (100, 0, 0, 0)


async def test_two_instances_ask_once(world: World, old: OldHolds, owner: Owner, age: Age) -> None:
    await world.player(money=100)
    for number in range(10):
        await world.place(bet((1, "ante", 1), bet_id=f"b{number}"))
    await age()
    owner.words.extend(["declined"] * 10)
    assert sum(await asyncio.gather(*(old.turn() for _ in range(4)))) == 10
    assert len(owner.asked) == 10
    assert await world.has() == (100, 0, 0, 0)


async def test_one_that_dies_after_the_answer_leaves_the_question_to_others(
    world: World, old: OldHolds, owner: Owner, age: Age
) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await age()
    owner.words.extend(["declined", "declined"])

    def die(point: str) -> None:
        if point == "wallet.old_holds.answered":
            raise InterruptedError

    with faults.arm(die), pytest.raises(InterruptedError):
        await old.turn()
    assert await world.has() == (90, 10, 0, 0)
    await age()
    assert await old.turn() == 1
    assert await world.has() == (100, 0, 0, 0)


async def test_a_question_ends_with_its_round(world: World, old: OldHolds, owner: Owner, age: Age) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await age()
    owner.words.append("staked")
    assert await old.turn() == 1
    await world.hear(("t1.1", settled((1, "ante", 10, 0))), ("t1.1", ROUND_SETTLED))
    assert await old.turn() == 0
    assert await world.pool.fetchval("SELECT count(*) FROM wallet.hold_questions") == 0


async def test_it_goes_on_by_itself_through_an_outage(
    world: World, old: OldHolds, owner: Owner, age: Age
) -> None:
    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await age()
    owner.words.append("declined")
    old.interval_s = 0.02
    times = 0

    def fail(point: str) -> None:
        nonlocal times
        if point == "wallet.old_holds.answered" and times == 0:
            times += 1
            owner.words.append("declined")
            raise ConnectionResetError

    ending = asyncio.Event()
    with faults.arm(fail):
        running = asyncio.create_task(old.run(ending))
        async with asyncio.timeout(20):
            while await world.has() != (100, 0, 0, 0):
                await world.pool.execute("UPDATE wallet.hold_questions SET due_at = now()")
        ending.set()
        await running
    assert times == 1


# -- over gRPC

Context = grpc.aio.ServicerContext[Any, Any]

RESOLVED = {
    "staked": pb.ResolveHoldResponse(resolved=pb.HoldResolved(answer=pb.HOLD_ANSWER_STAKED, position=3)),
    "declined": pb.ResolveHoldResponse(resolved=pb.HoldResolved(answer=pb.HOLD_ANSWER_DECLINED)),
    "nothing": pb.ResolveHoldResponse(),
    "refused": pb.ResolveHoldResponse(refusal=Refusal(reason="round_unknown", message="no such round")),
}


@pytest.mark.parametrize(
    ("answer", "word"),
    [("staked", "staked"), ("declined", "declined"), ("nothing", None), ("refused", None), ("fails", None)],
)
async def test_the_tables_owner_is_asked_over_grpc(
    world: World, age: Age, answer: str, word: Word | None
) -> None:
    asked: list[pb.ResolveHoldRequest] = []

    async def resolve(request: pb.ResolveHoldRequest, context: Context) -> pb.ResolveHoldResponse:
        asked.append(request)
        if answer == "fails":
            await context.abort(grpc.StatusCode.UNAVAILABLE, "away")
        return RESOLVED[answer]

    await world.player(money=100)
    await world.place(bet((1, "ante", 10)))
    await age()
    async with world.pool.acquire() as connection:
        (command,) = await QuestionTables().claim(connection, OLD_S, 10, 60.0)
    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(
        resolve, pb.ResolveHoldRequest.FromString, pb.ResolveHoldResponse.SerializeToString
    )
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("upcard.table.v1.TableService", {"ResolveHold": handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            assert await GrpcRoundOwner(channel).word_on(command, 10.0) == word
    finally:
        await server.stop(None)
    (request,) = asked
    assert (request.round, request.player, request.currency, request.bet_id) == ("t1.1", "p1", "EUR", "b1")
    assert [(one.box, one.wager, one.amount) for one in request.wagers] == [(1, "ante", 10)]
    assert request.request_id
