"""Another owner takes over: in a window, a close, a correction; after short and long outages."""

from __future__ import annotations

from typing import Any

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import refuse
from rules_core.round.times import from_epoch_us
from tests.table.owner.hands import HELD
from tests.table.owner.world import STAFF, Owned, player_by
from upcard_table.app.calls import Done, OutcomeUnknown, Refused, RoundWork
from upcard_table.app.funding.defaults import default_bet_id
from upcard_table.app.ports import OpenHold, PreviousOwner

BETTING_MS = 15_000
MOST_MS = 60_000
"""`extension_max_ms` of the tests' tables."""


async def betting(owned: Owned) -> None:
    """A round whose betting is open, with a bet."""
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))


async def outage(owned: Owned, lost_ms: int, *, token: int = 2, alive: bool = True) -> None:
    """The owner dies, and another one takes over so much later."""
    died_us = owned.clock.us
    await owned.kill(owned.owner)
    owned.clock.move(lost_ms)
    await owned.begin(token=token, previous=PreviousOwner(token - 1, died_us) if alive else None)


async def test_an_open_window_is_extended_by_the_time_that_was_lost(owned: Owned) -> None:
    await betting(owned)
    owned.clock.move(5_000)
    closes_us = owned.clock.us + (BETTING_MS - 5_000) * 1_000
    await outage(owned, 4_000)
    *_, extended = await owned.events()
    assert isinstance(extended, e.WindowExtended)
    assert (extended.reason, extended.extended_ms) == ("fail_over", 4_000)
    assert extended.closes_at == from_epoch_us(closes_us + 4_000_000)
    await owned.done(owned.bet("p2"))
    await owned.pass_window()
    assert owned.live.state.step == "deal"


async def test_a_window_whose_time_was_over_when_the_owner_died_is_closed_at_once(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    answer = owned.send(owned.bet("p2", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    stakes = owned.funds.asked[-1][0].wagers
    owned.clock.move(BETTING_MS)
    await owned.until(owned.closing_began)
    owned.funds.listed = [OpenHold("p2", "slow", stakes), OpenHold("p1", "bet-p1-0", stakes)]
    await outage(owned, 3_000)
    await owned.until(lambda: owned.live.state.step == "deal")
    assert isinstance(answer.exception(), OutcomeUnknown)
    *_, declined, closed = await owned.events()
    assert isinstance(declined, e.BetDeclined)
    assert (declined.bet_id, declined.reason) == ("slow", "hold_answered_late")
    assert isinstance(closed, e.BettingClosed)


async def test_open_holds_are_resolved_before_anything_else(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    left = owned.send(owned.bet("p2", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    stakes = owned.funds.asked[-1][0].wagers
    owned.funds.listed = [OpenHold("p2", "slow", stakes), OpenHold("p1", "bet-p1-0", stakes)]
    await outage(owned, 1_000)
    assert isinstance(left.exception(), OutcomeUnknown)
    names = await owned.names()
    assert names == ["RoundOpened", "BetPlaced", "BetDeclined", "WindowExtended"]
    # A new command of the player goes on.
    owned.funds.at_once = lambda _: HELD
    await owned.done(owned.bet("p2"))


async def test_a_wallet_that_is_away_does_not_keep_the_table_closed(owned: Owned) -> None:
    await betting(owned)
    owned.funds.away = True
    await outage(owned, 1_000)
    await owned.done(owned.bet("p2"))


async def test_beyond_what_is_allowed_the_table_waits_for_the_floor(owned: Owned) -> None:
    await betting(owned)
    await outage(owned, MOST_MS + 1)
    assert owned.owner.waits_for_floor
    assert owned.figures.floor[-1]
    owned.clock.move(120_000)
    await owned.one(owned.bet("p2"))
    assert owned.live.state.step == "betting"
    extended = await owned.done(RoundWork(c.ExtendWindow("", MOST_MS, "floor"), STAFF))
    assert isinstance(extended.events[0].event, e.WindowExtended)
    await owned.until(lambda: owned.live.state.step == "deal")
    assert owned.figures.floor[-1] is False


async def test_who_waits_for_the_floor_still_waits_after_another_fail_over(owned: Owned) -> None:
    await betting(owned)
    await outage(owned, MOST_MS + 1)
    await outage(owned, 100, token=3)
    assert owned.owner.waits_for_floor
    owned.clock.move(120_000)
    await owned.one(owned.bet("p2"))
    assert owned.live.state.step == "betting"
    await owned.done(RoundWork(c.CancelRound("technical_failure", ""), STAFF))
    await outage(owned, 100, token=4)
    assert owned.figures.floor[-1] is False


async def test_an_owner_that_dies_before_it_serves_does_not_shorten_what_was_lost(owned: Owned) -> None:
    await betting(owned)
    died_us = owned.clock.us
    await owned.kill(owned.owner)
    owned.clock.move(2_000)
    # The second owner gets as far as its first note, and dies.
    await owned.log.take_over("t1", PreviousOwner(1, died_us))
    second_died_us = owned.clock.us
    owned.clock.move(3_000)
    await owned.begin(token=3, previous=PreviousOwner(2, second_died_us))
    *_, extended = await owned.events()
    assert isinstance(extended, e.WindowExtended)
    assert extended.extended_ms == 5_000


async def test_a_table_goes_on_in_the_middle_of_the_deal_with_its_face_down_cards(owned: Owned) -> None:
    await betting(owned)
    await owned.pass_window()
    await owned.lay_some(7)
    await outage(owned, 120_000)
    assert not owned.owner.waits_for_floor  # no window was open
    await owned.lay()
    await owned.confirm()
    assert owned.live.state.step == "options"


async def test_default_bets_that_the_last_owner_asked_for_are_declined_and_asked_for_anew(
    owned: Owned,
) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.final_window("p1")
    name = "t1.1"
    first = default_bet_id(owned.live.state, name, "p1", 2)
    owned.funds.at_once = lambda _: None
    owned.clock.move(20_000)
    await owned.until(lambda: first in owned.funds.bets())
    owned.funds.listed = [OpenHold("p1", first, owned.funds.asked[-1][0].wagers, "EUR")]
    owned.funds.at_once = lambda _: HELD
    await outage(owned, 1_000)
    await owned.until(lambda: owned.live.state.step != "final_options")
    second = owned.funds.bets()[-1]
    assert second != first
    events = await owned.events()
    declined = [event.bet_id for event in events if isinstance(event, e.BetDeclined)]
    assert declined == [first]
    (choice,) = [event for event in events if isinstance(event, e.FinalOptionChosen)]
    assert choice.choice == "bet"


async def test_a_stop_answers_what_is_stored_and_sends_the_others_away(owned: Owned) -> None:
    await betting(owned)
    owned.funds.at_once = lambda _: None
    slow = owned.send(owned.bet("p2", bet_id="slow"))
    await owned.until(lambda: "slow" in owned.funds.bets())
    await owned.end()
    assert isinstance(slow.exception(), OutcomeUnknown)


async def settled(owned: Owned, players: int = 3) -> None:
    """A settled round of so many players who folded, and the next one open."""
    await owned.prepare()
    await owned.open_round()
    works = [owned.bet(f"p{number}") for number in range(players)]
    for start in range(0, players, 500):
        await owned.ask(*works[start : start + 500])
    await owned.pass_window()
    await owned.play_out()


def refund(number: int | None) -> RoundWork:
    """Give all of a round back."""
    return RoundWork(c.Resettle("wrong_result", "staff:a", "staff:b", refund=True), STAFF, number)


async def test_a_round_that_is_over_is_loaded_and_corrected(owned: Owned) -> None:
    await settled(owned)
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    await owned.until(lambda: set(owned.owner._deciding.memory.rounds) == {2})
    result = await owned.done(refund(1))
    assert result.round == 1
    assert (await owned.names(1))[-1] == "RoundResettled"
    await owned.check_replay(1)
    over = await owned.one(RoundWork(c.UndoBet("p1", ""), player_by("p1"), 1))
    assert isinstance(over, Refused)
    assert over.refusal.code == "round_over"
    unknown = await owned.one(refund(9))
    assert isinstance(unknown, Refused)
    assert unknown.refusal.code == "round_unknown"


async def test_a_correction_of_many_players_is_ended_by_the_next_owner(owned: Owned) -> None:
    await settled(owned, 1_200)
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    first = owned.owner
    decided = owned.send(refund(1))
    assert isinstance((await decided)[0], Done)
    await owned.kill(first)
    assert (await owned.names(1))[-1] == "PlayerSettled"
    await owned.begin(token=2)
    await owned.until(lambda: owned.owner._deciding.memory.rounds[1].state.step == "settled")
    hints = await owned.until_hints(lambda hints: not hints.unfinished)
    assert hints.last_round == 2
    assert (await owned.names(1)).count("RoundResettled") == 1
    await owned.check_replay(1)


async def test_a_pool_that_cannot_be_fenced_keeps_a_round_as_it_is(owned: Owned) -> None:
    await owned.prepare("dark-boxes@1")
    await owned.open_round()
    await owned.done(owned.bet("p1", (1, "ante", 100), (1, "bonus_player", 100)))
    await owned.pass_window()
    await owned.play_out()
    owned.fence.refusal = refuse("jackpot_not_fenced", "not now")
    refused: Any = await owned.one(refund(None))
    assert refused.refusal.code == "jackpot_not_fenced"
    owned.fence.refusal = None
    await owned.done(refund(None))
    assert owned.fence.asked == ["t1.1", "t1.1"]
