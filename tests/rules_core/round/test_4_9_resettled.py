"""RULES.md 4.9: a correction gives a new revision to each player whose lines change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.settlement.model import BoxResult, DealerResult, Line
from tests.rules_core.round.scripted import Scripted, ante
from tests.rules_core.round.settled_table import (
    ACE_KING,
    APPROVER,
    CARDS,
    P1,
    P2_BLIND,
    P2_SIXTH,
    P3_FOLDED,
    PROPOSER,
    REFUND,
    cards,
    choice,
    settled,
    table,
)

DEALER_HAND = DealerResult("ace_king", parse_cards(ACE_KING), "ace_king", qualified=True, purchased=False)


def resettled(
    number: int, staked: int, returned: int, dealer: DealerResult = DEALER_HAND
) -> e.RoundResettled:
    return e.RoundResettled(number, dealer, (e.CurrencyTotal("EUR", 3, staked, returned),))


def refunded(box: BoxResult) -> BoxResult:
    lines = tuple(replace(line, returned=line.stake, reason="refunded") for line in box.lines)
    return replace(box, outcome="refunded", lines=lines, returned=box.staked, net=0)


P2_PAIR = replace(
    P2_BLIND,
    outcome="win",
    best="one_pair",
    combinations=("one_pair",),
    odds=1,
    lines=(Line("ante", 100, 100, "ante_won_returned"), Line("bet", 200, 400, "bet_paid")),
    returned=500,
    net=200,
)


def test_by_cards_only_players_whose_lines_change_get_a_revision() -> None:
    done = table()
    command = cards(("box.1.0", "Tc"), ("box.1.1", "Td"))
    done.when(command).then(
        e.CorrectionDecided(
            1,
            "wrong_card_read",
            PROPOSER,
            APPROVER,
            refund=False,
            cards=(e.CardCorrection("box.1.0", "Tc"), e.CardCorrection("box.1.1", "Td")),
        ),
        settled("p2", P2_PAIR, P2_SIXTH, revision=2),
        resettled(1, 1_500, 3_200),
    )


def test_by_a_card_of_the_dealer() -> None:
    done = table()
    dealer = DealerResult(
        "nothing", parse_cards("Qs Kd 8h 5c 3d"), "nothing", qualified=False, purchased=False
    )
    p1 = replace(
        P1,
        outcome="no_game",
        lines=(
            Line("ante", 100, 200, "ante_no_game_one_to_one"),
            Line("bet", 200, 200, "bet_no_game_returned"),
        ),
        returned=400,
        net=100,
    )
    p2_blind = replace(
        P2_BLIND,
        outcome="no_game",
        lines=(
            Line("ante", 100, 200, "ante_no_game_one_to_one"),
            Line("bet", 200, 200, "bet_no_game_returned"),
        ),
        returned=400,
        net=100,
    )
    p2_sixth = replace(
        P2_SIXTH,
        outcome="no_game",
        lines=(
            Line("ante", 200, 400, "ante_no_game_one_to_one"),
            Line("bet", 400, 400, "bet_no_game_returned"),
            Line("option_fee", 200, 0, "option_fee_sixth_card"),
        ),
        returned=800,
        net=0,
    )
    done.when(cards(("dealer.0", "Qs"))).then(
        e.CorrectionDecided(
            1,
            "wrong_card_read",
            PROPOSER,
            APPROVER,
            refund=False,
            cards=(e.CardCorrection("dealer.0", "Qs"),),
        ),
        settled("p1", p1, revision=2),
        settled("p2", p2_blind, p2_sixth, revision=2),
        resettled(1, 1_500, 1_600, dealer),
    )


def test_a_player_whose_lines_stay_the_same_gets_no_revision_though_the_hand_is_another() -> None:
    done = table()
    events = done.do(cards(("box.2.0", "Qc")))
    assert [event.player for event in events if isinstance(event, e.PlayerSettled)] == ["p1", "p2"]
    assert done.settled()["p3"] == settled("p3", P3_FOLDED)


def test_by_a_choice() -> None:
    done = table()
    fix = e.ChoiceCorrection(2, "p1", option="fold")
    folded = replace(
        P1, outcome="folded", lines=(Line("ante", 100, 0, "ante_folded"),), staked=100, returned=0, net=-100
    )
    done.when(choice(fix)).then(
        e.CorrectionDecided(1, "dealer_mistake", PROPOSER, APPROVER, refund=False, choices=(fix,)),
        settled("p1", folded, revision=2),
        resettled(1, 1_300, 1_800),
    )


def test_by_a_choice_of_a_card_that_was_laid() -> None:
    done = table()
    fix = e.ChoiceCorrection(2, "p3", option="exchange", positions=(3,), final="bet", insurance=300)
    played = BoxResult(
        2,
        "p3",
        "win",
        "three_of_a_kind",
        ("three_of_a_kind",),
        3,
        (
            Line("ante", 100, 100, "ante_won_returned"),
            Line("bet", 200, 800, "bet_paid"),
            Line("option_fee", 100, 0, "option_fee_exchange"),
            Line("insurance", 300, 0, "insurance_lost"),
        ),
        700,
        900,
        200,
    )
    done.when(choice(fix)).then(
        e.CorrectionDecided(1, "dealer_mistake", PROPOSER, APPROVER, refund=False, choices=(fix,)),
        settled("p3", played, revision=2),
        resettled(1, 2_100, 3_600),
    )


def test_by_a_final_choice_alone_the_option_stays_as_recorded() -> None:
    done = table()
    done.do(choice(e.ChoiceCorrection(2, "p2", final="fold")))
    assert done.settled()["p2"].boxes[1].lines == (
        Line("ante", 200, 0, "ante_folded"),
        Line("option_fee", 200, 0, "option_fee_sixth_card"),
    )


def folded_after_a_sixth_card() -> Scripted:
    done = Scripted("live-shared@1", CARDS).open().place("p1", ante(2)).deal().option("p1", 2, "sixth")
    done.close_options()
    done.lay()
    done.confirm()
    done.final("p1", 2, "fold")
    done.close_finals()
    done.proceed()
    done.settle()
    return done


def test_by_an_option_alone_the_final_choice_stays_as_recorded() -> None:
    done = folded_after_a_sixth_card()
    done.do(choice(e.ChoiceCorrection(2, "p1", option="exchange", positions=(3,))))
    assert done.settled()["p1"].boxes[0].lines == (
        Line("ante", 100, 0, "ante_folded"),
        Line("option_fee", 100, 0, "option_fee_exchange"),
    )


def test_by_the_option_bet_a_box_has_bet_whatever_it_did_later() -> None:
    done = folded_after_a_sixth_card()
    done.do(choice(e.ChoiceCorrection(2, "p1", option="bet")))
    assert done.settled()["p1"].boxes[0].lines == P1.lines


def test_by_a_purchase_that_was_not_made() -> None:
    hands = {**CARDS, "dealer": "Qs Jd 8h 5c 3d", "draw": "5d"}
    done = Scripted("live-shared@1", hands).open().place("p1", ante(2)).place("p2", ante(2)).deal()
    done.option("p1", 2, "bet").option("p2", 2, "bet")
    done.close_options()
    done.lay()
    done.confirm()
    done.close_finals()
    done.proceed()
    done.proceed()
    done.buy("p1", 2).buy("p2", 2)
    done.close_purchase()
    done.lay()
    done.confirm()
    done.settle()
    done.do(choice(e.ChoiceCorrection(2, "p1", purchase=False)))
    assert done.settled()["p1"].boxes[0].lines == (
        Line("ante", 100, 200, "ante_no_game_one_to_one"),
        Line("bet", 200, 200, "bet_no_game_returned"),
    )
    event = done.do(choice(e.ChoiceCorrection(2, "p2", purchase=False)))[-1]
    assert isinstance(event, e.RoundResettled)
    assert event.dealer == DealerResult(
        "nothing", parse_cards("Qs Jd 8h 5c 3d"), "nothing", qualified=False, purchased=False
    )


def test_wrong_result_refunds_every_wager_of_everyone() -> None:
    done = table()
    done.when(REFUND).then(
        e.CorrectionDecided(1, "wrong_result", PROPOSER, APPROVER, refund=True),
        settled("p1", refunded(P1), revision=2),
        settled("p2", refunded(P2_BLIND), refunded(P2_SIXTH), revision=2),
        settled("p3", refunded(P3_FOLDED), revision=2),
        resettled(1, 1_500, 1_500),
    )


def test_any_reason_may_refund() -> None:
    done = table()
    events = done.do(replace(REFUND, reason="technical_failure"))
    assert events[-1] == resettled(1, 1_500, 1_500)


def test_a_correction_that_changes_no_line_is_on_the_record_all_the_same() -> None:
    done = table()
    done.when(cards(("box.3.0", "Td"))).then(
        e.CorrectionDecided(
            1, "wrong_card_read", PROPOSER, APPROVER, refund=False, cards=(e.CardCorrection("box.3.0", "Td"),)
        ),
        resettled(1, 1_500, 2_700),
    )


def test_corrections_follow_each_other_each_player_with_revisions_of_their_own() -> None:
    done = table()
    done.do(cards(("box.1.0", "Tc"), ("box.1.1", "Td")))
    fix = e.ChoiceCorrection(2, "p1", option="fold")
    folded = replace(
        P1, outcome="folded", lines=(Line("ante", 100, 0, "ante_folded"),), staked=100, returned=0, net=-100
    )
    assert done.do(choice(fix)) == (
        e.CorrectionDecided(2, "dealer_mistake", PROPOSER, APPROVER, refund=False, choices=(fix,)),
        settled("p1", folded, revision=2),
        resettled(2, 1_300, 2_300),
    )
    assert done.do(REFUND) == (
        e.CorrectionDecided(3, "wrong_result", PROPOSER, APPROVER, refund=True),
        settled("p1", refunded(folded), revision=3),
        settled("p2", refunded(P2_PAIR), refunded(P2_SIXTH), revision=3),
        settled("p3", refunded(P3_FOLDED), revision=2),
        resettled(3, 1_300, 1_300),
    )


def test_a_correction_after_a_refund_settles_what_was_really_played() -> None:
    done = table()
    done.do(REFUND)
    assert done.do(cards(("box.1.0", "Tc"), ("box.1.1", "Td")))[1:] == (
        settled("p1", P1, revision=3),
        settled("p2", P2_PAIR, P2_SIXTH, revision=3),
        settled("p3", P3_FOLDED, revision=3),
        resettled(2, 1_500, 3_200),
    )


def test_in_chunks_the_correction_begins_once_and_the_round_is_resettled_last() -> None:
    done = table()
    assert done.do(replace(REFUND, limit=1)) == (
        e.CorrectionDecided(1, "wrong_result", PROPOSER, APPROVER, refund=True),
        settled("p1", refunded(P1), revision=2),
    )
    done.when(REFUND).refused("round_not_settled")
    done.when(c.CancelRound("dealer_mistake", PROPOSER)).refused("round_ended")
    assert done.settle(1) == (settled("p2", refunded(P2_BLIND), refunded(P2_SIXTH), revision=2),)
    assert done.settle(1) == (settled("p3", refunded(P3_FOLDED), revision=2), resettled(1, 1_500, 1_500))
    done.when(c.Settle()).refused("round_ended")


def test_in_chunks_players_without_a_change_are_passed_over() -> None:
    done = table()
    fixes = (e.ChoiceCorrection(2, "p2", final="fold"), e.ChoiceCorrection(2, "p3", option="bet"))
    first = done.do(replace(choice(*fixes), limit=1))
    assert [type(event) for event in first] == [e.CorrectionDecided, e.PlayerSettled]
    second = done.settle(1)
    assert [type(event) for event in second] == [e.PlayerSettled, e.RoundResettled]
    revised = [event.player for event in (*first, *second) if isinstance(event, e.PlayerSettled)]
    assert revised == ["p2", "p3"]


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_chunks_of_any_size_correct_the_same(limit: int) -> None:
    fixes = (("box.1.0", "Tc"), ("box.1.1", "Td"), ("dealer.0", "Qs"))
    whole, chunks = table(), table()
    whole.do(cards(*fixes))
    chunks.do(cards(*fixes, limit=limit))
    while chunks.state.step != "settled":
        chunks.settle(limit)
    assert chunks.events == whole.events


def test_a_bet_declined_during_a_correction_changes_nothing_of_it() -> None:
    done = table()
    done.do(replace(REFUND, limit=1))
    done.do(
        c.DeclineBet("p9", "EUR", "hold-1", (e.DeclinedStake(2, "ante", 100),), "betting_closed", done.now)
    )
    assert done.state.step == "resettling"
    assert done.settle()[-1] == resettled(1, 1_500, 1_500)
