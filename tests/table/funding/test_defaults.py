"""Bets by default at the close of the final window (RULES.md section 4.6)."""

from __future__ import annotations

from uuid import UUID

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import Scripted, ante
from upcard_table.app.funding import DefaultBet, default_bet_id, default_bets, is_default_stake, unfunded
from upcard_table.app.ports import HoldsAnswer, WantedHolds

ROUND = "t1.7"
PAIR = "9s 9h Kd 4c 2d"
NOTHING = "Qs 9h 7d 4c 2d"


def passed(hand: str = PAIR, *players: str) -> Scripted:
    """A final window that asks players who passed their options."""
    table = Scripted("live-shared@1", {"box.2": hand}).open()
    for player in players or ("p1",):
        table.place(player, ante(2))
    table.deal()
    table.close_options()
    table.lay().confirm()
    assert table.state.step == "final_options"
    return table


def bets(
    table: Scripted, *, reserve: bool = False, in_flight: tuple[tuple[int, str], ...] = ()
) -> tuple[DefaultBet, ...]:
    return default_bets(table.state, table.sealed, ROUND, "corr", reserve=reserve, in_flight=in_flight)


def chosen(events: tuple[e.RoundEvent, ...]) -> dict[str, tuple[str, str | None]]:
    """What was chosen for each player, and why."""
    return {one.player: (one.choice, one.reason) for one in events if isinstance(one, e.FinalOptionChosen)}


def test_a_box_that_would_bet_needs_its_bets_money() -> None:
    table = passed()
    (bet,) = bets(table)
    assert bet == DefaultBet(
        2,
        "p1",
        WantedHolds(
            ROUND,
            "p1",
            "EUR",
            default_bet_id(table.state, ROUND, "p1", 2),
            (e.DeclinedStake(2, "bet", 200),),
            "corr",
            by_platform=True,
        ),
    )
    assert UUID(bet.wanted.bet_id if bet.wanted else "").version == 5


def test_a_hand_below_ace_king_folds_and_needs_none() -> None:
    assert bets(passed(NOTHING)) == ()


def test_no_window_no_default_bets() -> None:
    assert bets(Scripted("live-shared@1").open()) == ()


def test_who_has_chosen_is_not_asked_for() -> None:
    table = passed(PAIR, "p1", "p2")
    table.final("p1", 2, "fold")
    assert [bet.player for bet in bets(table)] == ["p2"]


def test_a_reserve_is_enough() -> None:
    assert bets(passed(), reserve=True) == (DefaultBet(2, "p1", None),)
    assert unfunded(bets(passed(), reserve=True), {}) == ()


def test_no_second_hold_where_the_players_own_is_open() -> None:
    table = passed(PAIR, "p1", "p2")
    mine, other = bets(table, in_flight=((2, "p1"),))
    assert (mine.wanted, other.wanted is None) == (None, False)
    left = unfunded((mine, other), {(2, "p2"): HoldsAnswer("held")}, in_flight=((2, "p1"),))
    assert left == ((2, "p1", "unavailable"),)
    assert chosen(table.close_finals(*left)) == {
        "p1": ("fold", "wallet_unavailable"),
        "p2": ("bet", "has_combination"),
    }


def test_refused_and_unanswered_money_folds_with_its_reason() -> None:
    players = tuple(f"p{number}" for number in range(1, 7))
    table = passed(PAIR, *players)
    answers = {
        (2, "p1"): HoldsAnswer("held"),
        (2, "p2"): HoldsAnswer("refused", "funds_refused"),
        (2, "p3"): HoldsAnswer("unknown", "deadline"),
        (2, "p4"): HoldsAnswer("overloaded"),
        (2, "p5"): HoldsAnswer("refused", "wallet_unavailable"),
    }
    assert chosen(table.close_finals(*unfunded(bets(table), answers))) == {
        "p1": ("bet", "has_combination"),
        "p2": ("fold", "bet_not_funded"),
        "p3": ("fold", "wallet_unavailable"),
        "p4": ("fold", "wallet_unavailable"),
        "p5": ("fold", "wallet_unavailable"),
        "p6": ("fold", "wallet_unavailable"),
    }


def test_the_id_is_the_same_in_each_try_until_it_was_declined() -> None:
    table = passed()
    first = default_bet_id(table.state, ROUND, "p1", 2)
    assert default_bet_id(table.state, ROUND, "p1", 2) == first
    others = {
        default_bet_id(table.state, ROUND, "p2", 2),
        default_bet_id(table.state, ROUND, "p1", 3),
        default_bet_id(table.state, "t1.8", "p1", 2),
    }
    assert len(others | {first}) == 4
    table.do(
        c.DeclineBet("p1", "EUR", first, (e.DeclinedStake(2, "bet", 200),), "hold_answered_late", table.now)
    )
    second = default_bet_id(table.state, ROUND, "p1", 2)
    assert second != first
    table.close_finals()
    assert is_default_stake(table.state, ROUND, "p1", second)
    assert not is_default_stake(table.state, ROUND, "p1", first), "that one was declined"
    assert not is_default_stake(table.state, ROUND, "p2", second)
