"""RULES.md 4.1: placing bets, what a box may carry, and the limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.actions import allowed_actions
from rules_core.round.limits import AmountRange, BoxLimits
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import (
    DURATIONS,
    Scripted,
    ante,
    at,
    bonus_b,
    bonus_d,
    given,
    limits_for,
)

LIVE = limits_for(shipped("live-shared@1"))


def table(ruleset: str = "live-shared@1") -> Scripted:
    return Scripted(ruleset).open()


def placed(*stakes: e.Stake, bet_id: str = "bet-1") -> e.BetPlaced:
    return e.BetPlaced("p1", "EUR", bet_id, "place", stakes, at(0))


def test_opening_pins_rules_engine_limits_and_the_time_of_the_close() -> None:
    new = Scripted("live-shared@1")
    new.when(new.open_command()).then(
        e.RoundOpened(
            "t1",
            7,
            "live-shared@1",
            new.ruleset.sha256,
            1,
            (LIVE,),
            DURATIONS,
            at(0),
            at(15),
            "deck-3",
        )
    )


def test_a_round_opens_once() -> None:
    opened = table()
    opened.when(opened.open_command()).refused("round_already_open")


def test_no_bet_before_the_round_is_open() -> None:
    new = Scripted("live-shared@1")
    new.when(new.place_command("p1", ante(2))).refused("round_not_open")


def test_an_ante_on_an_open_box() -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2, 150))).then(placed(e.Stake(2, "ante", 150)))


@pytest.mark.parametrize("box", [1, 3])
def test_a_blind_box_stakes_ante_and_bet_together(box: int) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(box, 150, blind=True))).then(
        placed(e.Stake(box, "ante", 150, blind=True), e.Stake(box, "bet", 300, blind=True))
    )


def test_what_is_added_to_a_blind_box_adds_twice_as_much_to_its_bet() -> None:
    opened = table().place("p1", ante(1, 150, blind=True))
    opened.when(opened.place_command("p1", ante(1, 50, blind=True))).then(
        placed(e.Stake(1, "ante", 50, blind=True), e.Stake(1, "bet", 100, blind=True), bet_id="bet-2")
    )
    opened.place("p1", ante(1, 50, blind=True))
    play = opened.state.seats["p1"].plays[1]
    assert (play.ante, play.bet) == (200, 400)


def test_several_boxes_with_b_and_d_in_one_command() -> None:
    opened = table()
    wagers = (ante(2), bonus_b(2, 50), bonus_d(2, 100), ante(3, 200, blind=True))
    opened.when(opened.place_command("p1", *wagers)).then(
        placed(
            e.Stake(2, "ante", 100),
            e.Stake(2, "bonus_player", 50),
            e.Stake(2, "bonus_dealer", 100),
            e.Stake(3, "ante", 200, blind=True),
            e.Stake(3, "bet", 400, blind=True),
        )
    )


def test_a_bet_is_a_fact_for_the_next_one() -> None:
    bet = placed(e.Stake(2, "ante", 4_900), bet_id="earlier")
    opened = given(table(), bet)
    opened.when(opened.place_command("p1", ante(2, 150))).refused(
        "above_maximum", box=2, wager="ante", total=5_050, maximum=5_000
    )


@pytest.mark.parametrize("bonus", [bonus_b(2, 50), bonus_d(2, 50)])
def test_b_and_d_need_an_ante_on_their_box(bonus: c.Placement) -> None:
    opened = table()
    opened.when(opened.place_command("p1", bonus)).refused("ante_missing", box=2)
    opened.place("p1", ante(1, blind=True))
    opened.when(opened.place_command("p1", bonus)).refused("ante_missing", box=2)


@pytest.mark.parametrize("bonus", [bonus_b(2, 50), bonus_d(2, 50)])
def test_b_and_d_need_the_players_own_ante(bonus: c.Placement) -> None:
    opened = table().place("p2", ante(2))
    opened.when(opened.place_command("p1", bonus)).refused("ante_missing", box=2)


def test_b_and_d_may_follow_their_ante_on_blind_boxes_too() -> None:
    opened = table().place("p1", ante(1, blind=True))
    wagers = (bonus_b(1, 50, blind=True), bonus_d(1, 50, blind=True))
    opened.when(opened.place_command("p1", *wagers)).then(
        placed(
            e.Stake(1, "bonus_player", 50, blind=True),
            e.Stake(1, "bonus_dealer", 50, blind=True),
            bet_id="bet-2",
        )
    )


@pytest.mark.parametrize(
    ("ruleset", "bonus", "wager"),
    [
        ("dark-boxes@1", bonus_d(2, 50), "bonus_dealer"),
        ("classic@1", bonus_b(2, 50), "bonus_player"),
        ("three-box@1", bonus_b(2, 50), "bonus_player"),
        ("four-box@1", bonus_d(2, 50), "bonus_dealer"),
    ],
)
def test_b_and_d_only_where_the_ruleset_has_them(ruleset: str, bonus: c.Placement, wager: str) -> None:
    opened = table(ruleset)
    opened.when(opened.place_command("p1", ante(2), bonus)).refused("wager_not_offered", box=2, wager=wager)


@pytest.mark.parametrize("amount", [100, 150, 5_000])
def test_an_ante_within_the_limits(amount: int) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2, amount))).then(placed(e.Stake(2, "ante", amount)))


@pytest.mark.parametrize(
    ("amount", "code", "figures"),
    [
        (50, "below_minimum", {"minimum": 100}),
        (5_050, "above_maximum", {"maximum": 5_000}),
        (120, "not_a_chip_multiple", {"chip": 50}),
    ],
)
def test_an_ante_outside_the_limits(amount: int, code: str, figures: dict[str, int]) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2, amount))).refused(
        code, box=2, wager="ante", total=amount, **figures
    )


@pytest.mark.parametrize(
    ("amount", "code", "figures"),
    [
        (1_050, "above_maximum", {"maximum": 1_000}),
        (60, "not_a_chip_multiple", {"chip": 50}),
    ],
)
@pytest.mark.parametrize("wager", ["bonus_player", "bonus_dealer"])
def test_b_and_d_outside_the_limits(
    amount: int, code: str, figures: dict[str, int], wager: c.PlacedWager
) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2), c.Placement(2, wager, amount))).refused(
        code, box=2, wager=wager, total=amount, **figures
    )


def test_limits_hold_for_the_total_after_the_command_not_for_what_is_added() -> None:
    opened = table().place("p1", ante(2, 100))
    opened.when(opened.place_command("p1", ante(2, 50))).then(placed(e.Stake(2, "ante", 50), bet_id="bet-2"))
    opened.when(opened.place_command("p1", ante(2, 30))).refused(
        "not_a_chip_multiple", box=2, wager="ante", total=130, chip=50
    )


def test_a_limit_counts_each_players_own_wager_on_a_shared_box() -> None:
    opened = table().place("p2", ante(2, 5_000))
    opened.when(opened.place_command("p1", ante(2, 5_000))).then(
        placed(e.Stake(2, "ante", 5_000), bet_id="bet-2")
    )


def test_a_box_may_have_ante_limits_of_its_own() -> None:
    own = replace(LIVE, boxes=(BoxLimits(1, ante=AmountRange(200, 300)),))
    opened = Scripted("live-shared@1", limits=own).open()
    opened.when(opened.place_command("p1", ante(1, 150, blind=True))).refused(
        "below_minimum", box=1, wager="ante", total=150, minimum=200
    )
    opened.when(opened.place_command("p1", ante(1, 350, blind=True))).refused(
        "above_maximum", box=1, wager="ante", total=350, maximum=300
    )
    opened.when(opened.place_command("p1", ante(3, 150, blind=True))).then(
        placed(e.Stake(3, "ante", 150, blind=True), e.Stake(3, "bet", 300, blind=True), bet_id="bet-3")
    )


def test_the_tables_total_counts_antes_blind_bets_b_and_d_of_all_boxes() -> None:
    opened = Scripted("live-shared@1", limits=replace(LIVE, player_total_max=600)).open()
    wagers = (ante(2), bonus_b(2, 100), bonus_d(2, 100), ante(1, blind=True))
    opened.when(opened.place_command("p1", *wagers)).then(
        placed(
            e.Stake(2, "ante", 100),
            e.Stake(2, "bonus_player", 100),
            e.Stake(2, "bonus_dealer", 100),
            e.Stake(1, "ante", 100, blind=True),
            e.Stake(1, "bet", 200, blind=True),
        )
    )
    opened.place("p1", *wagers)
    opened.when(opened.place_command("p1", bonus_b(2, 50))).refused(
        "above_table_maximum", total=650, maximum=600
    )


def test_one_wager_over_a_limit_refuses_the_whole_command() -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2), ante(1, 5_050, blind=True))).refused(
        "above_maximum", box=1, wager="ante", total=5_050, maximum=5_000
    )
    assert opened.state.seats == {}


@pytest.mark.parametrize("amount", [0, -100])
def test_a_placement_adds_something(amount: int) -> None:
    opened = table().place("p1", ante(2, 300))
    opened.when(opened.place_command("p1", ante(2, amount))).refused(
        "amount_not_positive", box=2, amount=amount
    )


def test_no_stake_is_so_large_that_its_payout_would_leave_the_exact_integers() -> None:
    most = (2**53 - 1) // 1_000_000
    limits = replace(LIVE, chip=1, ante=AmountRange(1, most))
    opened = Scripted("live-shared@1", limits=limits).open()
    opened.when(opened.place_command("p1", ante(2, most + 1))).refused(
        "amount_too_large", box=2, amount=most + 1
    )
    opened.place("p1", ante(2, most))


def test_no_number_of_bets_is_so_large_that_a_rounds_sums_would_leave_the_exact_integers() -> None:
    most = (2**53 - 1) // 1_000_000
    opened = Scripted("live-shared@1", limits=replace(LIVE, chip=1, ante=AmountRange(1, most))).open()
    # An ante can bring back 904 times itself: twice the ante, the bet at 150 to 1, the whole of that insured.
    whole = (2**53 - 1) // (904 * most)
    for number in range(whole):
        opened.place(f"p{number}", ante(2, most))
    room = (2**53 - 1 - 904 * most * whole) // 904
    opened.when(opened.place_command("late", ante(2, room + 1))).refused(
        "exposure_too_large", maximum=2**53 - 1
    )
    (place,) = [
        a
        for a in allowed_actions(opened.state, "late", opened.sealed).place
        if (a.boxes, a.wager, a.blind) == ((2,), "ante", ())
    ]
    assert place.max == room
    opened.place("late", ante(2, room))
    opened.do(c.ClearBets("p0", opened.now))
    opened.place("later", ante(2, most))


@pytest.mark.parametrize("box", [0, 4, -1])
def test_a_box_that_the_table_has_not(box: int) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(box))).refused("box_out_of_range", box=box)


@pytest.mark.parametrize(("box", "blind"), [(1, False), (3, False), (2, True)])
def test_an_ante_only_as_the_ruleset_allows_the_box(box: int, *, blind: bool) -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(box, blind=blind))).refused("box_kind_not_allowed", box=box)


@pytest.mark.parametrize("blind", [False, True])
def test_a_box_stays_as_it_was_first_played(*, blind: bool) -> None:
    opened = table("four-box@1").place("p1", ante(2, blind=blind))
    opened.when(opened.place_command("p1", ante(2, blind=not blind))).refused("box_kind_fixed", box=2)


def test_an_empty_command_and_an_endless_one() -> None:
    opened = table()
    opened.when(opened.place_command("p1")).refused("placements_out_of_range", maximum=32)
    opened.when(opened.place_command("p1", *(ante(box, 50) for box in range(33)))).refused(
        "placements_out_of_range", maximum=32
    )


def test_a_currency_that_the_table_does_not_take() -> None:
    opened = table()
    command = replace(opened.place_command("p1", ante(2)), currency="USD")
    opened.when(command).refused("currency_not_taken", currency="USD")


def test_one_currency_a_player_and_round() -> None:
    ruleset = shipped("live-shared@1")
    opened = Scripted(ruleset, limits=(LIVE, limits_for(ruleset, "USD"))).open()
    opened.place("p1", ante(2))
    in_dollars = replace(opened.place_command("p1", ante(1, blind=True)), currency="USD")
    opened.when(in_dollars).refused("currency_differs", currency="EUR")
    opened.when(replace(in_dollars, player="p2")).then(
        e.BetPlaced(
            "p2",
            "USD",
            "bet-2",
            "place",
            (e.Stake(1, "ante", 100, blind=True), e.Stake(1, "bet", 200, blind=True)),
            at(0),
        )
    )


def test_a_bet_id_stakes_once() -> None:
    opened = table().place("p1", ante(2))
    again = replace(opened.place_command("p1", ante(2)), bet_id="bet-1")
    opened.when(again).refused("bet_id_used")


def test_a_bet_is_not_recorded_before_its_money_is_held() -> None:
    opened = table()
    opened.when(replace(opened.place_command("p1", ante(2)), funds="not_asked")).refused("money_not_held")


@pytest.mark.parametrize(
    ("funds", "reason"), [("refused", "funds_refused"), ("unavailable", "wallet_unavailable")]
)
def test_a_bet_without_money_is_declined_in_full(funds: c.Funds, reason: str) -> None:
    opened = table()
    command = replace(
        opened.place_command("p1", ante(1, blind=True), bonus_b(1, 50, blind=True)), funds=funds
    )
    opened.when(command).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "bet-1",
            (
                e.DeclinedStake(1, "ante", 100, blind=True),
                e.DeclinedStake(1, "bet", 200, blind=True),
                e.DeclinedStake(1, "bonus_player", 50, blind=True),
            ),
            reason,
            at(0),
            "PlaceBet",
        )
    )
    opened.do(command)
    assert opened.state.seats == {}


def test_a_rule_is_named_before_the_wallet_is_asked() -> None:
    opened = table()
    command = replace(opened.place_command("p1", ante(2, 50)), funds="not_asked")
    opened.when(command).refused("below_minimum", box=2, wager="ante", total=50, minimum=100)


def test_one_hold_covers_one_wager_of_one_box_so_a_command_names_it_once() -> None:
    opened = table()
    opened.when(opened.place_command("p1", ante(2, 100), ante(2, 50))).refused("placement_repeated")
    opened.place("p1", ante(2, 100), bonus_b(2, 50), ante(1, blind=True))
