"""What the search has found once, each in as few steps as it takes, so that it is found at once again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_card
from rules_core.log.bundle import bundle_bytes, withhold_for
from rules_core.log.engines import ENGINES
from rules_core.log.replay import replay
from rules_core.log.verify import verify_bundle
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.actions import allowed_actions
from rules_core.round.command_of import Fact
from rules_core.round.times import is_timestamp
from rules_core.rulesets.shipped import shipped
from tests.rules_core.histories import bundle_of_recording
from tests.rules_core.recording import Recording
from tests.rules_core.round.scripted import Scripted, ante, limits_for

NO_GAME = "Qs Jd 8h 5c 3d"
PEOPLE = ("staff:s1", "staff:s2")


@pytest.mark.parametrize("box", [0, 4, 9])
def test_4_1_bets_of_boxes_that_this_table_has_not_are_not_offered_again(box: int) -> None:
    table = Scripted("live-shared@1").open()
    previous = (ante(box, blind=True),)
    assert not allowed_actions(table.state, "p1", table.sealed, previous=previous).repeat
    table.when(c.RepeatBets("p1", "EUR", "r1", previous, table.now)).refused("box_out_of_range", box=box)


def test_4_1_a_double_that_would_stake_too_much_is_not_offered() -> None:
    limits = replace(limits_for(shipped("three-box@1")), player_total_max=250)
    table = Scripted("three-box@1", limits=limits).open().place("p1", ante(1, 150))
    assert allowed_actions(table.state, "p1", table.sealed).double is None
    table.when(c.DoubleBets("p1", "d1", table.now)).refused("above_table_maximum", total=300, maximum=250)


def test_4_1_a_blind_boxs_bet_is_never_withdrawn_alone() -> None:
    table = Recording("four-box@1")
    table.open().place("p1", ante(1), ante(3, blind=True))
    bet = e.WithdrawnStake("bet-1", 3, "bet", 200)
    forged = Fact(e.BetWithdrawn("p1", "withdraw", (bet,), table.now), "player:p1", table.now)
    found = replay(ENGINES[1], table.ruleset, [*table.facts, forged], table.sealed).difference
    assert found is not None
    assert (found.position, found.expected) == (3, "a refusal (no_such_bet)")


def test_4_8_a_correction_may_say_that_a_box_bought_when_others_did_who_are_withheld() -> None:
    table = Recording("three-box@1", {"dealer": NO_GAME, "draw": "2s"})
    table.open().place("p1", ante(1)).place("p2", ante(2))
    table.deal()
    for player, box in (("p1", 1), ("p2", 2)):
        table.option(player, box, "bet")
        table.close_options()
        table.proceed()
    table.proceed()
    table.decline("p1", 1).buy("p2", 2)
    table.close_purchase()
    table.lay()
    table.confirm()
    table.settle()
    bought = (e.ChoiceCorrection(1, "p1", purchase=True),)
    table.do(c.Resettle("dealer_mistake", *PEOPLE, choices=bought))
    bundle = bundle_of_recording(table)
    for player in ("p1", "p2"):
        report = verify_bundle(bundle_bytes(withhold_for(bundle, player)))
        assert (report.exit_code, report.difference) == (0, None)


@pytest.mark.parametrize("laid", [1, 20])
def test_4_9_after_a_cancellation_no_card_is_read_again(laid: int) -> None:
    table = Scripted("three-box@1").open().place("p1", ante(1), ante(2)).close_betting().lay(laid)
    place = next(iter(table.laid))
    table.do(c.CancelRound("card_dropped", "dealer:d1"))
    again = replace(table.rescan_command(place, "2c"), card=parse_card(next(table._rest)))
    table.when(again).refused("card_confirmed", place=place)


@pytest.mark.parametrize("reason", ["no_bets", "rain"])
def test_4_1_a_window_is_extended_for_a_known_reason(reason: str) -> None:
    table = Scripted("three-box@1").open()
    command = c.ExtendWindow(table.now, 1_000, reason)  # type: ignore[arg-type]  # what the type forbids
    table.when(command).refused("reason_unknown", reason=reason)


def test_no_day_has_an_hour_24() -> None:
    assert not is_timestamp("2026-01-01T24:00:00.000000Z")
    assert is_timestamp("2026-01-01T23:59:59.999999Z")
