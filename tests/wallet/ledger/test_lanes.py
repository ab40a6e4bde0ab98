"""Holds of many callers: what queued during a transaction goes into the next; who goes is never served."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.wallet.ledger.world import World, bet
from upcard_wallet.adapters import internal_purse
from upcard_wallet.adapters.internal_purse import _Lane
from upcard_wallet.app.purse import HELD, UNKNOWN, AccountRef, HoldGroup, Outcome

ACCOUNT = AccountRef("a1", "p1", "o1", "EUR", "internal")


def group(name: str) -> HoldGroup:
    return HoldGroup("t1.1", name, ACCOUNT, (), "player:p1", "c1")


class Slow:
    """A transaction that lasts until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_end = asyncio.Event()

    async def __call__(self, groups: Sequence[HoldGroup]) -> Sequence[Outcome]:
        self.batches.append([one.bet_id for one in groups])
        await self.may_end.wait()
        return [HELD] * len(groups)


def asked(lane: _Lane, name: str) -> asyncio.Future[Outcome]:
    answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    lane.put(group(name), answer)
    return answer


async def test_what_queues_meanwhile_goes_together_and_in_its_order() -> None:
    slow = Slow()
    lane = _Lane(slow)
    first = asked(lane, "b0")
    await asyncio.sleep(0)
    others = [asked(lane, f"b{number}") for number in range(1, 6)]
    slow.may_end.set()
    assert [*await asyncio.gather(first, *others)] == [HELD] * 6
    assert slow.batches == [["b0"], ["b1", "b2", "b3", "b4", "b5"]]
    slow.batches.clear()
    assert await asked(lane, "b6") == HELD, "it begins again after a pause"


async def test_a_command_whose_caller_has_gone_is_never_begun() -> None:
    slow = Slow()
    lane = _Lane(slow)
    first = asked(lane, "b0")
    await asyncio.sleep(0)
    gone, stays = asked(lane, "b1"), asked(lane, "b2")
    gone.cancel()
    slow.may_end.set()
    assert [*await asyncio.gather(first, stays)] == [HELD, HELD]
    assert slow.batches == [["b0"], ["b2"]]


async def test_a_transaction_that_is_cut_off_leaves_nobody_waiting() -> None:
    slow = Slow()
    lane = _Lane(slow)
    first = asked(lane, "b0")
    await asyncio.sleep(0)
    assert lane._worker is not None
    lane._worker.cancel()
    async with asyncio.timeout(5.0):
        assert await first == UNKNOWN
    slow.may_end.set()
    assert await asked(lane, "b1") == HELD


async def test_a_full_queue_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internal_purse, "WAITING_MAX", 1)
    slow = Slow()
    lane = _Lane(slow)
    first = asked(lane, "b0")
    await asyncio.sleep(0)
    waits, refused = asked(lane, "b1"), asked(lane, "b2")
    assert await refused == UNKNOWN
    slow.may_end.set()
    assert [*await asyncio.gather(first, waits)] == [HELD, HELD]
    assert ["b2"] not in slow.batches


async def test_a_caller_that_gives_up_holds_nothing_that_was_not_begun(world: World) -> None:
    await world.player(money=1_000)
    calls = [asyncio.ensure_future(world.place(bet((1, "ante", 10), bet_id=f"b{n}"))) for n in range(20)]
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    held = await world.value("SELECT count(*) FROM wallet.holds")
    assert await world.place(bet((2, "ante", 10), bet_id="after"))
    assert await world.has() == (1_000 - 10 * (held + 1), 10 * (held + 1), 0, 0)
    await world.all_is_explained()
