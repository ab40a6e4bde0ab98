"""The same command twice, concurrently, after a crash: one effect, one answer."""

from __future__ import annotations

import pytest

from eventstore import AppendFailed, OutcomeUnknown, VersionConflict
from eventstore.answers import AnswerExists, AnswerKey, RequestIdReused
from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.hands import HELD
from tests.table.owner.shaky import ShakyLog, once
from tests.table.owner.world import DEALER, SHOE, TABLE, Owned, player_by
from upcard_table.app.calls import Declined, Done, NotOwner, OpenRoundWork, Refused, RoundWork
from upcard_table.app.ports import Batch, HoldsAnswer


async def betting(owned: Owned) -> None:
    """A round whose betting is open."""
    await owned.prepare()
    await owned.open_round()


def undo(player: str) -> RoundWork:
    """Take back the latest placement."""
    return RoundWork(c.UndoBet(player, ""), player_by(player))


async def test_a_request_is_answered_from_the_store_also_by_the_next_owner(owned: Owned) -> None:
    await betting(owned)
    work = owned.bet("p1")
    first = await owned.ask(work, request_id="r1")
    stored = await owned.ask(work, request_id="r1")
    assert stored == repr(first).encode()
    await owned.end()
    await owned.begin(token=2)
    assert await owned.ask(work, request_id="r1") == stored
    assert len(owned.funds.asked) == 1


async def test_a_refusal_is_kept_too(owned: Owned) -> None:
    await betting(owned)
    refused = await owned.ask(undo("p1"), request_id="r1")
    assert isinstance(refused[0], Refused)
    await owned.done(owned.bet("p1"))
    assert await owned.ask(undo("p1"), request_id="r1") == repr(refused).encode()


async def test_a_request_id_with_another_body_is_refused(owned: Owned) -> None:
    await betting(owned)
    await owned.ask(owned.bet("p1"), request_id="r1")
    with pytest.raises(RequestIdReused):
        await owned.ask(owned.bet("p2"), request_id="r1")


async def test_undo_that_was_done_before_the_crash_is_not_done_again(owned: Owned) -> None:
    """The call undoes for two; one of them waits for his money while the other's undo is stored already."""
    await betting(owned)
    await owned.done(owned.bet("p1", (2, "ante", 100)))
    await owned.done(owned.bet("p1", (2, "ante", 200)))
    await owned.done(owned.bet("p2", (2, "ante", 100)))
    owned.funds.at_once = lambda _: None
    slow = owned.send(owned.bet("p2", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    first = owned.owner
    both = owned.send(undo("p1"), undo("p2"), request_id="r1")
    await owned.until(lambda: owned.live.state.seats["p1"].plays[2].ante == 100)
    await owned.kill(first)
    assert isinstance(slow.exception(), OutcomeUnknown)
    assert isinstance(both.exception(), OutcomeUnknown)
    owned.funds.at_once = lambda _: HELD
    await owned.begin(token=2)
    results = await owned.ask(undo("p1"), undo("p2"), request_id="r1")
    assert all(isinstance(result, Done) for result in results)
    assert owned.live.state.seats["p1"].plays[2].ante == 100
    names = await owned.names()
    assert names.count("BetWithdrawn") == 2


async def test_two_bets_with_one_id_at_the_same_time_are_one(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    work = owned.bet("p1", bet_id="b1")
    answers = [owned.send(work), owned.send(work)]
    await owned.until(lambda: owned.funds.bets() == ["b1"])
    owned.funds.answer("b1")
    first, second = [(await answer)[0] for answer in answers]
    assert isinstance(first, Done)
    assert first == second
    assert owned.funds.bets() == ["b1"]


async def test_a_bet_id_of_somebody_else_is_refused_and_tells_nothing(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1", bet_id="b1"))
    refused = await owned.one(owned.bet("p2", bet_id="b1"))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "bet_id_used"


async def test_scans_are_known_by_their_id_and_another_card_is_refused(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1"))
    await owned.pass_window()

    def scan(card: str, salt: str = "0" * 32) -> RoundWork:
        return RoundWork(c.ScanCard("s1", CARD_OF[card], salt), SHOE)

    first = await owned.done(scan("Qs"))
    assert await owned.done(scan("Qs")) == first
    await owned.end()
    await owned.begin(token=2)
    assert await owned.done(scan("Qs")) == first
    for other in (scan("Qh"), scan("Qs", "1" * 32)):
        refused = await owned.one(other)
        assert isinstance(refused, Refused)
        assert refused.refusal.code == "scan_id_reused"
    assert "Qs" not in repr(first)


async def test_a_round_is_opened_once_by_one_request(owned: Owned) -> None:
    await betting(owned)
    assert owned.live.number == 1
    await owned.round(c.CancelRound("dealer_mistake", ""))
    await owned.table_shuffled()
    first = await owned.ask(OpenRoundWork(DEALER), request_id="open-2")
    again = await owned.ask(OpenRoundWork(DEALER), request_id="open-2")
    assert again == repr(first).encode()
    assert owned.live.number == 2


async def test_a_conflict_drops_the_state_and_the_batch_is_decided_again(owned: Owned) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    shaky.before = once(VersionConflict("round-t1.1", 1, 2))
    result = await owned.ask(owned.bet("p1"), request_id="r1")
    assert isinstance(result[0], Done)
    assert owned.figures.dropped_for == ["version_conflict"]
    assert (await owned.names()).count("BetPlaced") == 1


async def test_an_outcome_that_is_not_known_is_found_in_the_log_before_anybody_is_answered(
    owned: Owned,
) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    shaky.after = once(OutcomeUnknown((), "cut"))
    result = await owned.one(owned.bet("p1", bet_id="b1"))
    assert isinstance(result, Done)
    assert result.events[0].position == 2
    assert (await owned.names()).count("BetPlaced") == 1
    shaky.before = once(OutcomeUnknown((), "cut"))
    assert isinstance(await owned.one(owned.bet("p2", bet_id="b2")), Done)
    assert (await owned.names()).count("BetPlaced") == 2


async def test_an_answer_that_somebody_else_stored_meanwhile_is_the_answer(owned: Owned) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    key = AnswerKey("tests", "Call", "r1")
    shaky.after = once(AnswerExists([key]))
    work = owned.bet("p1")
    answer = await owned.ask(work, request_id="r1")
    assert isinstance(answer, bytes)
    assert (await owned.names()).count("BetPlaced") == 1


async def test_callers_are_sent_away_when_another_owner_keeps_winning(owned: Owned) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    shaky.before = lambda batch: VersionConflict("round-t1.1", 1, 2) if batch.appends else None
    with pytest.raises(NotOwner):
        await owned.ask(undo_of_nobody(owned))
    shaky.before = lambda _: None


def undo_of_nobody(owned: Owned) -> RoundWork:
    """A bet that would be recorded."""
    return owned.bet("p7", bet_id="b7")


async def test_a_held_wager_that_the_rules_refuse_meanwhile_is_declined_by_its_reason(owned: Owned) -> None:
    """Two players want one box; while the first one's money is asked for, the second one waits."""
    await owned.prepare("three-box@1")
    await owned.open_round()
    owned.funds.at_once = lambda _: None
    first = owned.send(owned.bet("p1", (1, "ante", 100), bet_id="b1"))
    second = owned.send(owned.bet("p2", (1, "ante", 100), bet_id="b2"))
    other = owned.send(owned.bet("p3", (2, "ante", 100), bet_id="b3"))
    await owned.until(lambda: owned.funds.bets() == ["b1", "b3"])
    owned.funds.answer("b3")
    assert isinstance((await other)[0], Done)
    owned.funds.answer("b1", HoldsAnswer("refused", "funds_refused"))
    assert isinstance((await first)[0], Declined)
    await owned.until(lambda: owned.funds.bets() == ["b1", "b3", "b2"])
    owned.funds.answer("b2")
    assert isinstance((await second)[0], Done)


async def test_a_wager_whose_round_was_cancelled_meanwhile_is_declined(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    answer = owned.send(owned.bet("p1", bet_id="b1"))
    await owned.until(lambda: owned.funds.bets() == ["b1"])
    await owned.round(c.CancelRound("dealer_mistake", ""))
    owned.funds.answer("b1")
    (result,) = await answer
    assert isinstance(result, Declined)
    assert result.event.reason == "hold_answered_late"
    assert isinstance((await owned.events())[-1], e.BetDeclined)


async def test_a_wallet_that_is_overloaded_leaves_no_event(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: HoldsAnswer("overloaded")
    refused = await owned.one(owned.bet("p1"))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "overloaded"
    assert await owned.names() == ["RoundOpened"]


async def test_the_wallets_question_waits_for_the_bet_that_it_is_about(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    work = owned.bet("p1", bet_id="b1")
    bet = owned.send(work)
    await owned.until(lambda: owned.funds.bets() == ["b1"])
    stakes = owned.funds.asked[0][0].wagers
    question = RoundWork(c.DeclineBet("p1", "EUR", "b1", stakes, "hold_answered_late", ""), SHOE, 1)
    asked = owned.send(question)
    owned.funds.answer("b1")
    placed, told = (await bet)[0], (await asked)[0]
    assert isinstance(told, Done)
    assert told == placed
    assert isinstance(told.events[0].event, e.BetPlaced)


async def test_rebet_repeats_the_bets_of_the_round_before_also_after_a_fail_over(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1", (2, "ante", 300), (2, "bonus_player", 100)))
    await owned.round(c.CancelRound("dealer_mistake", ""))
    await owned.table_shuffled()
    await owned.done(OpenRoundWork(DEALER))
    await owned.end()
    await owned.begin(token=2)
    result = await owned.round(c.RepeatBets("p1", "EUR", "again", (), ""), player_by("p1"))
    event = result.events[0].event
    assert isinstance(event, e.BetPlaced)
    assert [(stake.wager, stake.amount) for stake in event.stakes] == [("ante", 300), ("bonus_player", 100)]
    assert TABLE == "t1"


async def test_a_database_that_fails_for_long_is_made_up_for_in_the_open_window(owned: Owned) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    left = [3, 2, 1]

    def away(_: Batch) -> Exception | None:
        if not left:
            return None
        left.pop()
        owned.clock.move(1_000)
        return AppendFailed("away")

    shaky.before = away
    assert isinstance(await owned.one(owned.bet("p1")), Done)
    extended = [event for event in await owned.events() if isinstance(event, e.WindowExtended)]
    assert [(event.reason, event.extended_ms) for event in extended] == [("fail_over", 3_000)]


async def test_beyond_what_is_allowed_a_failing_database_leaves_the_window_to_the_floor(owned: Owned) -> None:
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    left = [1]

    def away(_: Batch) -> Exception | None:
        if not left:
            return None
        left.pop()
        owned.clock.move(61_000)
        return AppendFailed("away")

    shaky.before = away
    await owned.one(owned.bet("p1"))
    assert owned.owner.waits_for_floor
    assert (await owned.log.hints(TABLE)).floor_round == 1


async def test_what_acts_now_is_stamped_anew_when_it_is_decided_again(owned: Owned) -> None:
    """Another owner was there meanwhile, and the round's time went on."""
    await owned.end()
    shaky = ShakyLog(owned.log)
    await owned.begin(token=2, log=shaky)
    await betting(owned)
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    await owned.lay()

    def late(_: Batch) -> Exception | None:
        if not left:
            return None
        left.pop()
        owned.clock.move(500)
        return VersionConflict("round-t1.1", 1, 2)

    left = [1]
    shaky.before = late
    await owned.confirm()
    opened = (await owned.facts())[-1]
    assert isinstance(opened.event, e.OptionsOpened)
    assert opened.event.opened_at == opened.recorded_at
