"""The queue to the wallet: batches, head starts, deadlines, failures. Every answer is given by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from servicekit.grpc import Actor, ActorKind, acting_as
from tests.table.funding.calls import DEADLINE_S, REFUSED, UNKNOWN, Desk, all_of, at_work, wanted
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.ports import HoldsAnswer

PATIENT = AskingSettings(head_start_s=DEADLINE_S, first_pause_s=0.01)
"""The next call goes when the one before has answered something, and never sooner."""
HELD = HoldsAnswer("held")
OVERLOADED = HoldsAnswer("overloaded", "overloaded")
NO_ANSWER = HoldsAnswer("unknown", "no_answer")


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with at_work(PATIENT) as desk:
        yield desk


async def test_what_queues_while_a_call_is_not_answered_goes_together(desk: Desk) -> None:
    (first,) = desk.ask("b1")
    call = await desk.calls.next()
    assert call.bets == ["b1"]
    later = desk.ask("b2", "b3", "b4")
    call.finish()
    assert await first == HELD
    call = await desk.calls.next()
    assert call.bets == ["b2", "b3", "b4"]
    call.answer(2, outcome=REFUSED, reason="funds_refused")
    assert await later[2] == HoldsAnswer("refused", "funds_refused")
    assert not later[0].done()
    call.answer(0, 1)
    call.end()
    assert await all_of(later) == [HELD, HELD, HoldsAnswer("refused", "funds_refused")]
    assert desk.observed.calls == [(1, 1), (3, 3)]
    assert sorted(desk.observed.outcomes) == ["held", "held", "held", "refused"]


async def test_a_slow_partner_keeps_nobody_elses_bet_waiting(desk: Desk) -> None:
    slow, quick = desk.ask("slow", "quick")
    first = await desk.calls.next()
    first.answer(1)
    assert await quick == HELD
    (other,) = desk.ask("other")
    second = await desk.calls.next()
    second.finish()
    assert await other == HELD
    assert not slow.done()
    first.answer(0)
    assert await slow == HELD


async def test_however_many_wait_for_a_slow_partner_there_is_room_for_the_next_call() -> None:
    settings = AskingSettings(calls_max=64, crowded_gap_s=0.02)
    loop = asyncio.get_running_loop()
    async with at_work(settings) as desk:
        for number in range(90):
            (slow,) = desk.ask(f"slow-{number}", within_s=0.5)
            (quick,) = desk.ask(f"quick-{number}", within_s=0.5)
            call = await desk.calls.next()
            loop.call_later(call.timeout_s, call.fail, grpc.StatusCode.DEADLINE_EXCEEDED)
            call.answer(1)
            assert await quick == HELD
            assert not slow.done()
            assert len(desk.asking._calls) < settings.calls_max


async def test_a_call_that_answers_nothing_holds_the_next_one_up_for_a_moment_only() -> None:
    async with at_work(AskingSettings(head_start_s=0.001)) as desk:
        (silent,) = desk.ask("silent")
        await desk.calls.next()
        (other,) = desk.ask("other")
        (await desk.calls.next()).finish()
        assert await other == HELD
        assert not silent.done()


async def test_a_command_is_answered_by_its_own_deadline_whatever_the_wallet_does(desk: Desk) -> None:
    hurried, patient = desk.asking.ask(wanted("b1"), soon()), desk.ask("b2")[0]
    call = await desk.calls.next()
    assert call.timeout_s > 10, "the call lives as long as anyone of it can wait"
    assert await hurried == HoldsAnswer("unknown", "deadline")
    call.finish()
    assert await patient == HELD
    assert await hurried == HoldsAnswer("unknown", "deadline"), "a late answer changes nothing"


async def test_what_was_never_sent_was_never_asked() -> None:
    async with at_work(AskingSettings(calls_max=1, head_start_s=0.001)) as desk:
        (silent,) = desk.ask("silent")
        call = await desk.calls.next()
        assert await desk.asking.ask(wanted("b2"), soon()) == OVERLOADED
        call.finish()
        assert await silent == HELD
        (third,) = desk.ask("b3")
        call = await desk.calls.next()
        assert call.bets == ["b3"], "a command that nobody waits for is not sent"
        call.finish()
        assert await third == HELD


async def test_without_time_nobody_is_asked(desk: Desk) -> None:
    assert await desk.asking.ask(wanted("b1"), asyncio.get_running_loop().time()) == OVERLOADED
    assert desk.calls.none_waits


async def test_a_full_queue_refuses_at_once() -> None:
    async with at_work(AskingSettings(waiting_max=2, head_start_s=DEADLINE_S)) as desk:
        desk.ask("b1")
        call = await desk.calls.next()
        answers = desk.ask("b2", "b3", "b4")
        assert await answers[2] == OVERLOADED
        call.finish()
        (await desk.calls.next()).finish()
        assert await all_of(answers[:2]) == [HELD, HELD]


async def test_a_call_has_a_bound_in_commands_and_in_wagers() -> None:
    settings = AskingSettings(commands_max=3, wagers_max=4, head_start_s=DEADLINE_S)
    async with at_work(settings) as desk:
        deadline = asyncio.get_running_loop().time() + DEADLINE_S
        sizes = (1, 1, 1, 1, 3, 1, 2, 9, 1)
        answers = [
            desk.asking.ask(wanted(f"b{number}", *range(1, wagers + 1)), deadline)
            for number, wagers in enumerate(sizes)
        ]
        batches: list[list[int]] = []
        while sum(len(batch) for batch in batches) < len(sizes):
            call = await desk.calls.next()
            batches.append([len(command.wagers) for command in call.request.commands])
            call.finish()
        assert batches == [[1, 1, 1], [1, 3], [1, 2], [9], [1]]
        assert set(await all_of(answers)) == {HELD}


async def test_a_call_that_fails_is_made_again_with_what_it_had_not_answered(desk: Desk) -> None:
    answers = desk.ask("b1", "b2", "b3")
    call = await desk.calls.next()
    call.answer(1)
    call.fail()
    again = await desk.calls.next()
    assert again.bets == ["b1", "b3"]
    assert again.request.request_id != call.request.request_id, "it is another batch of the same commands"
    again.finish()
    assert await all_of(answers) == [HELD, HELD, HELD]
    assert desk.observed.failures == ["unavailable"]


async def test_a_stream_that_breaks_off_is_no_answer(desk: Desk) -> None:
    answers = desk.ask("b1", "b2")
    call = await desk.calls.next()
    call.answer(0)
    call.end()
    again = await desk.calls.next()
    assert again.bets == ["b2"]
    again.answer(0, outcome=UNKNOWN)
    again.end()
    assert await all_of(answers) == [HELD, NO_ANSWER], "unknown is the wallet's word, not asked for again"


async def test_after_three_failures_it_is_unknown(desk: Desk) -> None:
    (answer,) = desk.ask("b1")
    for _ in range(3):
        (await desk.calls.next()).fail()
    assert await answer == NO_ANSWER
    assert desk.calls.none_waits


async def test_what_cannot_pass_is_not_tried_again(desk: Desk) -> None:
    (answer,) = desk.ask("b1")
    (await desk.calls.next()).fail(grpc.StatusCode.INVALID_ARGUMENT)
    assert await answer == NO_ANSWER
    assert desk.observed.failures == ["invalid_argument"]


async def test_an_answer_to_what_nobody_asked_is_not_heard(desk: Desk) -> None:
    (answer,) = desk.ask("b1")
    call = await desk.calls.next()
    call.answer(-1, 7)
    call.finish()
    assert await answer == HELD


async def test_calls_for_many_are_in_nobodys_name() -> None:
    with acting_as(Actor(ActorKind.PLAYER, "p1")):
        async with at_work(PATIENT) as desk:
            (answer,) = desk.ask("b1")
            call = await desk.calls.next()
            assert call.actor is None
            assert [command.correlation_id for command in call.request.commands] == ["corr-1"]
            call.finish()
            assert await answer == HELD


async def test_who_waits_no_more_is_not_asked_for(desk: Desk) -> None:
    desk.ask("b1")
    call = await desk.calls.next()
    gone, stays = desk.ask("b2", "b3")
    gone.cancel()
    call.finish()
    again = await desk.calls.next()
    assert again.bets == ["b3"]
    again.finish()
    assert await stays == HELD


async def test_a_defect_in_one_call_is_said_and_others_go_on() -> None:
    async with at_work(PATIENT) as desk:
        bad, good = wanted("b1"), wanted("b2")
        object.__setattr__(bad, "bet_id", 7)  # no message can have it
        answer = desk.asking.ask(bad, soon(DEADLINE_S))
        assert await answer == NO_ANSWER
        other = desk.asking.ask(good, soon(DEADLINE_S))
        (await desk.calls.next()).finish()
        assert await other == HELD
        assert desk.observed.failures == ["defect"]


async def test_a_stop_leaves_nobody_waiting() -> None:
    async with at_work(PATIENT) as desk:
        (sent,) = desk.ask("b1")
        await desk.calls.next()
        (queued,) = desk.ask("b2")
    assert await sent == NO_ANSWER, "a hold of it may exist"
    assert await queued == OVERLOADED
    assert await desk.ask("b3")[0] == OVERLOADED


def soon(within_s: float = 0.05) -> float:
    return asyncio.get_running_loop().time() + within_s
