"""Whole rounds, driven by the owner: from the first bet to the settlement, and what the log says of them."""

from __future__ import annotations

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.hands import HELD
from tests.table.owner.world import DEALER, Owned, player_by
from upcard_table.app.calls import Declined, Done, OpenRoundWork, Refused, RoundWork, TableWork
from upcard_table.app.ports import HoldsAnswer
from upcard_table.domain import commands as t

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_round_of_each_ruleset_from_betting_to_settled(owned: Owned, ruleset: str) -> None:
    await owned.prepare(ruleset)
    await owned.open_round()
    shared = ruleset == "live-shared@1"
    first = (
        owned.bet("p1", (2, "ante", 200)) if shared else owned.bet("p1", (1, "ante", 200), (2, "ante", 200))
    )
    await owned.done(first)
    await owned.pass_window()
    await owned.play_out()
    names = await owned.names()
    assert names[-1] == "RoundSettled"
    assert names[0] == "RoundOpened"
    await owned.check_replay()


async def test_a_round_is_not_opened_before_a_deck_was_shuffled(owned: Owned) -> None:
    await owned.prepare()
    refused = await owned.one(OpenRoundWork(DEALER))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "deck_not_shuffled"


async def test_without_a_bet_the_window_starts_again(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.pass_window()
    *_, extended = await owned.events()
    assert isinstance(extended, e.WindowExtended)
    assert extended.reason == "no_bets"


async def test_a_bet_without_money_is_declined_and_one_after_a_deposit_is_taken(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    owned.funds.at_once = lambda _: HoldsAnswer("refused", "funds_refused")
    declined = await owned.one(owned.bet("p1"))
    assert isinstance(declined, Declined)
    assert declined.event.reason == "funds_refused"
    owned.funds.at_once = lambda _: HELD
    await owned.done(owned.bet("p1"))


async def test_the_same_bet_id_has_one_effect_and_one_answer_for_ever(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    work = owned.bet("p1", bet_id="b1")
    first = await owned.done(work)
    assert await owned.done(work) == first
    await owned.end()
    await owned.begin(token=2)
    assert await owned.done(work) == first
    assert (await owned.names()).count("BetPlaced") == 1
    assert owned.funds.bets() == ["b1"]


async def test_choices_money_and_settlement_of_several_players(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1", (2, "ante", 200)))
    await owned.done(owned.bet("p2", (2, "ante", 300), (2, "bonus_player", 100)))
    await owned.pass_window()
    await owned.lay()
    await owned.confirm()
    works = [
        RoundWork(c.ChooseOption("p1", 2, "bet", "", bet_id="o1"), player_by("p1")),
        RoundWork(c.ChooseOption("p2", 2, "exchange", "", (0, 1), "o2"), player_by("p2")),
    ]
    results = await owned.ask(*works)
    assert all(isinstance(result, Done) for result in results)
    await owned.play_out()
    await owned.check_replay()


async def test_manual_mode_cancels_a_private_round_in_the_same_transaction(owned: Owned) -> None:
    await owned.prepare("classic@1")
    await owned.open_round()
    await owned.done(owned.bet("p1", (1, "ante", 200), (2, "ante", 200)))
    result = await owned.done(TableWork(t.EnterManualMode("reader_failed"), player_by("p1")))
    assert [type(one.event).__name__ for one in result.events] == ["ManualModeEntered", "RoundCancelled"]
    assert (await owned.names())[-1] == "RoundCancelled"
