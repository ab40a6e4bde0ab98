"""The close of each window: who is in, who is late, what becomes of holds (ARCHITECTURE.md, The round)."""

from __future__ import annotations

from typing import Any

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.hands import HELD
from tests.table.owner.world import SHOE, Owned, player_by
from upcard_table.app.calls import Declined, Done, Refused, RoundWork
from upcard_table.app.ports import HoldsAnswer, WantedHolds

BETTING_MS = 15_000
DRAIN_MS = 1_500
FUNDS_REFUSED = HoldsAnswer("refused", "funds_refused")
UNKNOWN = HoldsAnswer("unknown")


def only(*bet_ids: str) -> Any:
    """A wallet that leaves these bets without an answer and holds the others at once."""
    return lambda wanted: None if wanted.bet_id in bet_ids else HELD


def platform_asks(wanted: WantedHolds) -> HoldsAnswer | None:
    """A wallet that leaves the platform's questions without an answer."""
    return None if wanted.by_platform else HELD


async def betting(owned: Owned, ruleset: str = "live-shared@1", **config: Any) -> None:
    """A round whose betting is open."""
    await owned.prepare(ruleset, **config)
    await owned.open_round()


async def test_a_thousand_bets_race_the_close_and_the_stream_says_who_was_in(owned: Owned) -> None:
    await betting(owned)
    works = [owned.bet(f"p{number}", bet_id=f"b{number}") for number in range(1_000)]
    answers = [owned.send(*works[start : start + 50]) for start in range(0, 500, 50)]
    owned.clock.move(BETTING_MS)
    answers += [owned.send(*works[start : start + 50]) for start in range(500, 1_000, 50)]
    results = [result for answer in answers for result in await answer]
    assert all(isinstance(result, Done) for result in results[:500])
    assert all(isinstance(result, Declined) for result in results[500:])
    await owned.until(lambda: owned.live.state.step == "deal")
    events = await owned.events()
    closing = next(index for index, event in enumerate(events) if isinstance(event, e.BettingClosed))
    placed = {event.bet_id: index for index, event in enumerate(events) if isinstance(event, e.BetPlaced)}
    assert set(placed) == {f"b{number}" for number in range(500)}
    assert max(placed.values()) < closing
    assert {event.bet_id for event in events if isinstance(event, e.BetDeclined)} == {
        f"b{number}" for number in range(500, 1_000)
    }
    assert len(owned.funds.asked) == 500  # who comes late is not asked for money


async def test_a_hold_that_is_answered_in_the_drain_is_in(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    answer = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: owned.funds.bets() == ["slow"])
    owned.clock.move(BETTING_MS + DRAIN_MS - 1)
    await owned.until(owned.closing_began)
    assert await owned.names() == ["RoundOpened"]
    owned.funds.answer("slow")
    (result,) = await answer
    assert isinstance(result, Done)
    await owned.until(lambda: owned.live.state.step == "deal")
    assert await owned.names() == ["RoundOpened", "BetPlaced", "BettingClosed"]


async def test_a_hold_without_an_answer_is_declined_before_the_closing_event_and_stays_so(
    owned: Owned,
) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    await owned.done(owned.bet("p2"))
    work = owned.bet("p1", bet_id="slow")
    answer = owned.send(work)
    await owned.until(lambda: "slow" in owned.funds.bets())
    owned.clock.move(BETTING_MS + DRAIN_MS)
    await owned.until(lambda: owned.closing_began() or owned.live.state.step == "deal")
    owned.clock.move(DRAIN_MS)
    (result,) = await answer
    assert isinstance(result, Declined)
    assert result.event.reason == "hold_answered_late"
    owned.funds.answer("slow")
    assert await owned.one(work) == result
    assert await owned.names() == ["RoundOpened", "BetPlaced", "BetDeclined", "BettingClosed"]
    assert not owned.owner._deciding.pending


async def test_who_waited_for_a_turn_at_the_close_is_never_asked_for_money(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    await owned.done(owned.bet("p2"))
    first, second = owned.bet("p1", bet_id="slow"), owned.bet("p1", bet_id="next")
    answers = [owned.send(first), owned.send(second)]
    await owned.until(lambda: "slow" in owned.funds.bets())
    owned.clock.move(BETTING_MS)
    await owned.until(owned.closing_began)
    owned.clock.move(DRAIN_MS)
    results = [(await answer)[0] for answer in answers]
    assert [result.event.reason for result in results if isinstance(result, Declined)] == [
        "hold_answered_late",
        "betting_closed",
    ]
    assert "next" not in owned.funds.bets()
    await owned.until(lambda: owned.live.state.step == "deal")


async def test_late_bets_leave_twenty_events_a_player_at_most(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p2"))
    await owned.pass_window()
    results = [await owned.one(owned.bet("p1")) for _ in range(23)]
    assert [isinstance(result, Declined) for result in results] == [True] * 20 + [False] * 3
    assert isinstance(results[-1], Refused)
    assert not [wanted for wanted, _ in owned.funds.asked if wanted.player == "p1"]


async def test_the_dealer_cannot_close_betting_before_its_time(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1"))
    refused = await owned.one(RoundWork(c.CloseBetting(""), player_by("d1")))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "window_still_open"


async def close_finals(owned: Owned) -> list[e.RoundEvent]:
    """Let the final window pass; what it added."""
    before = owned.live.position
    owned.clock.move(20_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    await owned.until(lambda: owned.live.position > before)
    await owned.until(lambda: owned.live.state.step != "final_options")
    return (await owned.events())[before:]


async def test_bets_by_default_are_held_all_at_once_and_those_without_money_fold(owned: Owned) -> None:
    await betting(owned)
    await owned.final_window("p1", "p2", "p3")
    by_player = {"p1": HELD, "p2": FUNDS_REFUSED, "p3": None}
    owned.funds.at_once = lambda wanted: by_player[wanted.player]
    events = await close_finals(owned)
    assert isinstance(events[0], e.BetDeclined)  # p3's, whose money may be held
    assert events[0].player == "p3"
    assert events[0].reason == "hold_answered_late"
    choices = {event.player: event for event in events if isinstance(event, e.FinalOptionChosen)}
    assert (choices["p1"].choice, choices["p1"].reason) == ("bet", "has_combination")
    assert (choices["p2"].choice, choices["p2"].reason) == ("fold", "bet_not_funded")
    assert (choices["p3"].choice, choices["p3"].reason) == ("fold", "wallet_unavailable")
    assert all(wanted.by_platform for wanted, _ in owned.funds.asked[-3:])


async def test_a_box_whose_own_hold_is_open_is_asked_for_no_second_one_and_folds(owned: Owned) -> None:
    await betting(owned)
    await owned.final_window("p1")
    owned.funds.at_once = only("own")
    answer = owned.send(RoundWork(c.ChooseFinalOption("p1", 2, "bet", "", bet_id="own"), player_by("p1")))
    await owned.until(lambda: "own" in owned.funds.bets())
    before = owned.live.position
    owned.clock.move(20_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    await owned.until(owned.defaults_asked)
    owned.clock.move(1_500)
    (result,) = await answer
    assert isinstance(result, Declined)
    assert not [wanted for wanted, _ in owned.funds.asked if wanted.by_platform]
    await owned.until(lambda: owned.live.state.step != "final_options")
    events = (await owned.events())[before:]
    assert isinstance(events[0], e.BetDeclined)
    assert isinstance(events[1], e.FinalOptionChosen)
    assert (events[1].choice, events[1].reason) == ("fold", "wallet_unavailable")


async def test_a_box_whose_own_hold_is_refused_while_defaults_are_held_does_not_bet_for_nothing(
    owned: Owned,
) -> None:
    await betting(owned)
    await owned.final_window("p1", "p2")
    owned.funds.at_once = lambda _: None
    answer = owned.send(RoundWork(c.ChooseFinalOption("p1", 2, "bet", "", bet_id="own"), player_by("p1")))
    await owned.until(lambda: "own" in owned.funds.bets())
    owned.clock.move(20_000)
    await owned.until(owned.closing_began)
    owned.clock.move(1_500)
    await owned.until(owned.defaults_asked)
    owned.funds.answer("own", FUNDS_REFUSED)
    assert isinstance((await answer)[0], Declined)
    for wanted, _ in list(owned.funds.asked):
        owned.funds.answer(wanted.bet_id)
    await owned.until(lambda: owned.live.state.step != "final_options")
    choices = {e_.player: e_ for e_ in await owned.events() if isinstance(e_, e.FinalOptionChosen)}
    assert (choices["p1"].choice, choices["p1"].reason) == ("fold", "bet_not_funded")
    assert choices["p2"].choice == "bet"


async def test_a_reserved_bet_needs_no_money_at_the_close(owned: Owned) -> None:
    await betting(owned, reserve_bet_with_ante=True)
    await owned.final_window("p1")
    (wanted, _), *more = owned.funds.asked
    assert not more
    assert [(one.wager, one.amount) for one in wanted.wagers] == [("ante", 100), ("bet", 200)]
    owned.funds.at_once = lambda _: None
    before = owned.live.position
    owned.clock.move(20_000)
    await owned.until(lambda: owned.live.state.step != "final_options")
    assert len(owned.funds.asked) == 1
    choice = (await owned.events())[before]
    assert isinstance(choice, e.FinalOptionChosen)
    assert choice.choice == "bet"
    assert {type(event).__name__ for _, event in owned.funds.freed} >= {"BetPlaced", "FinalOptionChosen"}


async def test_a_window_closes_early_when_every_asked_box_has_decided(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1", (2, "ante", 100)))
    await owned.pass_window()
    await owned.lay()
    await owned.confirm()
    await owned.done(RoundWork(c.ChooseOption("p1", 2, "fold", ""), player_by("p1")))
    await owned.until(lambda: owned.live.state.step == "replace")


async def test_the_table_confirms_the_cards_itself_some_time_after_the_last_scan(owned: Owned) -> None:
    await betting(owned)
    await owned.done(owned.bet("p1", (2, "ante", 100)))
    await owned.pass_window()
    await owned.lay()
    assert owned.live.state.step == "deal"
    owned.clock.move(2_999)
    assert owned.live.state.step == "deal"
    owned.clock.move(1)
    await owned.until(lambda: owned.live.state.step == "options")
    *_, opened = await owned.facts()
    assert isinstance(opened.event, e.OptionsOpened)
    assert opened.event.confirmed_by == "system"


@pytest.mark.parametrize("answer", [HELD, FUNDS_REFUSED, UNKNOWN])
async def test_an_answer_after_the_close_changes_nothing(owned: Owned, answer: HoldsAnswer) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    await owned.done(owned.bet("p2"))
    asked = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    owned.clock.move(BETTING_MS)
    await owned.until(owned.closing_began)
    owned.clock.move(DRAIN_MS)
    await asked
    position = owned.live.position
    owned.funds.answer("slow", answer)
    await owned.one(owned.bet("p3"))  # one more batch
    assert owned.live.position <= position + 2
    assert (await owned.names()).count("BetDeclined") == 2  # the late hold, and p3's late bet


async def test_a_dealers_close_after_its_time_waits_for_the_drain_and_gets_its_events(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    slow = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    owned.clock.move(BETTING_MS)
    await owned.until(owned.closing_began)
    closing = owned.send(RoundWork(c.CloseBetting(""), player_by("d1")))
    await owned.until(lambda: bool(owned.owner._deciding.closers))
    owned.funds.answer("slow")
    assert isinstance((await slow)[0], Done)
    (result,) = await closing
    assert isinstance(result, Done)
    assert isinstance(result.events[-1].event, e.BettingClosed)


async def test_who_waits_for_a_close_is_answered_when_the_round_is_cancelled(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = only("slow")
    slow = owned.send(owned.bet("p1", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    owned.clock.move(BETTING_MS)
    await owned.until(owned.closing_began)
    closing = owned.send(RoundWork(c.CloseBetting(""), player_by("d1")))
    await owned.until(lambda: bool(owned.owner._deciding.closers))
    await owned.round(c.CancelRound("dealer_mistake", ""))
    (result,) = await closing
    assert isinstance(result, Refused)
    assert result.refusal.code == "window_not_open"
    owned.funds.answer("slow")
    assert isinstance((await slow)[0], Declined)


async def test_the_wallet_cannot_have_a_bet_by_default_declined(owned: Owned) -> None:
    """Its events name no bet id: while it is asked for, and once it is staked, the owner knows it still."""
    await betting(owned)
    await owned.final_window("p1")
    owned.funds.at_once = lambda _: None
    owned.clock.move(20_000)
    await owned.until(owned.defaults_asked)
    wanted, _ = owned.funds.asked[-1]
    question = RoundWork(
        c.DeclineBet("p1", "EUR", wanted.bet_id, wanted.wagers, "hold_answered_late", ""), SHOE, 1
    )
    in_flight = await owned.one(question)
    assert isinstance(in_flight, Refused)
    assert in_flight.refusal.code == "hold_in_flight"
    owned.funds.answer(wanted.bet_id)
    await owned.until(lambda: owned.live.state.step != "final_options")
    assert isinstance(await owned.one(question), Done)
    assert "BetDeclined" not in await owned.names()
