"""RULES.md 4.1, Seating and equal antes: which boxes one player may hold, per ruleset."""

from __future__ import annotations

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b


def table(ruleset: str) -> Scripted:
    return Scripted(ruleset).open()


def seated(ruleset: str, *opened: int, blind: tuple[int, ...] = ()) -> Scripted:
    """A player with these boxes, each placed by a command of its own."""
    placed = table(ruleset)
    for box in opened:
        placed.place("p1", ante(box))
    for box in blind:
        placed.place("p1", ante(box, blind=True))
    return placed


def boxes_of(placed: Scripted, player: str = "p1") -> list[int]:
    seat = placed.state.seats.get(player)
    return sorted(seat.plays) if seat else []


# dark-boxes: all boxes of a player form one run of neighbours


@pytest.mark.parametrize(("held", "wanted"), [((3,), 2), ((3,), 4), ((3, 4), 2), ((3, 4), 5)], ids=str)
def test_dark_boxes_a_run_grows_at_either_end(held: tuple[int, ...], wanted: int) -> None:
    placed = seated("dark-boxes@1", blind=held)
    placed.place("p1", ante(wanted, blind=True))
    assert boxes_of(placed) == sorted((*held, wanted))


@pytest.mark.parametrize(("held", "wanted"), [((1,), 3), ((1,), 6), ((3, 4), 1), ((3, 4), 6)])
def test_dark_boxes_a_gap_is_refused(held: tuple[int, ...], wanted: int) -> None:
    placed = seated("dark-boxes@1", blind=held)
    placed.when(placed.place_command("p1", ante(wanted, blind=True))).refused("boxes_not_neighbours")


def test_dark_boxes_a_gap_may_be_filled_by_the_same_command() -> None:
    placed = seated("dark-boxes@1", blind=(1,))
    placed.place("p1", ante(3), ante(2, blind=True))
    assert boxes_of(placed) == [1, 2, 3]


def test_dark_boxes_open_and_blind_boxes_are_one_run() -> None:
    placed = seated("dark-boxes@1", 1, blind=(2,))
    placed.when(placed.place_command("p1", ante(4))).refused("boxes_not_neighbours")
    placed.place("p1", ante(3))
    assert boxes_of(placed) == [1, 2, 3]


def test_dark_boxes_a_withdrawal_that_breaks_the_run_is_refused() -> None:
    placed = seated("dark-boxes@1", 3, blind=(2, 4))
    placed.when(c.WithdrawBet("p1", 3, "ante", at(1))).refused("boxes_not_neighbours")


@pytest.mark.parametrize("end", [2, 4])
def test_dark_boxes_a_withdrawal_at_an_end_leaves_a_run(end: int) -> None:
    placed = seated("dark-boxes@1", 3, blind=(2, 4))
    placed.do(c.WithdrawBet("p1", end, "ante", at(1)))
    assert boxes_of(placed) == sorted({2, 3, 4} - {end})


def test_dark_boxes_b_may_go_from_the_middle_of_a_run() -> None:
    placed = seated("dark-boxes@1", 3, blind=(2, 4)).place("p1", bonus_b(3, 50))
    placed.when(c.WithdrawBet("p1", 3, "bonus_player", at(1))).then(
        e.BetWithdrawn("p1", "withdraw", (e.WithdrawnStake("bet-4", 3, "bonus_player", 50),), at(1))
    )


def test_dark_boxes_each_players_run_stands_alone() -> None:
    placed = seated("dark-boxes@1", 1).place("p2", ante(3))
    placed.when(placed.place_command("p1", ante(4, blind=True))).refused("boxes_not_neighbours")
    placed.place("p1", ante(2, blind=True))
    assert (boxes_of(placed), boxes_of(placed, "p2")) == ([1, 2], [3])


def test_dark_boxes_at_most_two_open_and_any_number_blind() -> None:
    placed = seated("dark-boxes@1", 1, 2)
    placed.when(placed.place_command("p1", ante(3))).refused("too_many_open_boxes", maximum=2)
    placed.place("p1", *(ante(box, blind=True) for box in (3, 4, 5, 6)))
    assert boxes_of(placed) == [1, 2, 3, 4, 5, 6]


def test_dark_boxes_blind_boxes_need_no_open_one() -> None:
    assert boxes_of(seated("dark-boxes@1", blind=(1, 2, 3))) == [1, 2, 3]


# classic: a blind box only while the player holds two open ones


@pytest.mark.parametrize("opened", [(), (1,)])
def test_classic_a_blind_box_needs_two_open_ones(opened: tuple[int, ...]) -> None:
    placed = seated("classic@1", *opened)
    placed.when(placed.place_command("p1", ante(3, blind=True))).refused("blind_needs_open_boxes", needed=2)


def test_classic_another_players_open_boxes_do_not_count() -> None:
    placed = seated("classic@1", 1).place("p2", ante(2))
    placed.when(placed.place_command("p1", ante(3, blind=True))).refused("blind_needs_open_boxes", needed=2)


def test_classic_blind_boxes_from_the_third_on() -> None:
    placed = seated("classic@1", 1, 4)
    placed.when(placed.place_command("p1", ante(2))).refused("too_many_open_boxes", maximum=2)
    placed.place("p1", ante(2, blind=True), ante(6, blind=True))
    assert boxes_of(placed) == [1, 2, 4, 6]


def test_classic_two_open_boxes_and_a_blind_one_in_one_command() -> None:
    placed = table("classic@1").place("p1", ante(3, blind=True), ante(1), ante(5))
    assert boxes_of(placed) == [1, 3, 5]


def test_classic_a_withdrawal_that_leaves_a_blind_box_alone_is_refused() -> None:
    placed = seated("classic@1", 1, 4, blind=(2,))
    for box in (1, 4):
        placed.when(c.WithdrawBet("p1", box, "ante", at(1))).refused("blind_needs_open_boxes", needed=2)
    placed.do(c.WithdrawBet("p1", 2, "ante", at(1)))
    placed.do(c.WithdrawBet("p1", 1, "ante", at(1)))
    assert boxes_of(placed) == [4]


def test_classic_clear_takes_open_and_blind_boxes_together() -> None:
    placed = seated("classic@1", 1, 4, blind=(2,))
    placed.do(c.ClearBets("p1", at(1)))
    assert boxes_of(placed) == []


# three-box, four-box, live-shared


def test_three_box_two_open_boxes_a_player_and_none_blind() -> None:
    placed = seated("three-box@1", 1, 3)
    placed.when(placed.place_command("p1", ante(2))).refused("too_many_open_boxes", maximum=2)
    placed.when(placed.place_command("p1", ante(2, blind=True))).refused("box_kind_not_allowed", box=2)
    placed.place("p2", ante(2))
    assert boxes_of(placed, "p2") == [2]


def test_four_box_two_open_and_two_blind_boxes_a_player() -> None:
    placed = seated("four-box@1", 1, 3, blind=(2, 4))
    assert boxes_of(placed) == [1, 2, 3, 4]


def test_four_box_a_third_open_or_blind_box_is_refused() -> None:
    placed = seated("four-box@1", 1, 3)
    placed.when(placed.place_command("p1", ante(2))).refused("too_many_open_boxes", maximum=2)
    blind = seated("four-box@1", blind=(2, 4))
    blind.when(blind.place_command("p1", ante(1, blind=True))).refused("too_many_blind_boxes", maximum=2)


def test_four_box_needs_no_neighbours_and_no_open_box_for_a_blind_one() -> None:
    assert boxes_of(seated("four-box@1", blind=(1, 4))) == [1, 4]


def test_live_shared_all_three_boxes_or_any_of_them() -> None:
    assert boxes_of(seated("live-shared@1", 2, blind=(1, 3))) == [1, 2, 3]
    assert boxes_of(seated("live-shared@1", blind=(1, 3))) == [1, 3]


# equal antes: one command sets the ante of all boxes concerned


def test_three_box_antes_are_equal_on_the_players_boxes() -> None:
    placed = seated("three-box@1", 1)
    placed.when(placed.place_command("p1", ante(2, 150))).refused("antes_not_equal")
    placed.place("p1", ante(2, 100))
    placed.when(placed.place_command("p1", ante(2, 50))).refused("antes_not_equal")
    placed.place("p1", ante(1, 50), ante(2, 50))
    assert {play.ante for play in placed.state.seats["p1"].plays.values()} == {150}


def test_three_box_each_players_antes_are_their_own() -> None:
    placed = seated("three-box@1", 1).place("p2", ante(2, 500))
    assert placed.state.seats["p2"].plays[2].ante == 500


def test_three_box_double_keeps_antes_equal() -> None:
    placed = seated("three-box@1", 1, 3)
    placed.do(c.DoubleBets("p1", "double-1", at(1)))
    assert {play.ante for play in placed.state.seats["p1"].plays.values()} == {200}


def test_dark_boxes_antes_are_equal_on_open_boxes_only() -> None:
    placed = seated("dark-boxes@1", 1).place("p1", ante(2, 300, blind=True))
    placed.when(placed.place_command("p1", ante(3, 300))).refused("antes_not_equal")
    placed.place("p1", ante(3, 100))
    placed.when(placed.place_command("p1", ante(1, 50))).refused("antes_not_equal")
    placed.place("p1", ante(1, 50), ante(3, 50)).place("p1", ante(2, 50, blind=True))
    assert {box: play.ante for box, play in placed.state.seats["p1"].plays.items()} == {
        1: 150,
        2: 350,
        3: 150,
    }


@pytest.mark.parametrize("ruleset", ["classic@1", "four-box@1"])
def test_antes_may_differ_elsewhere(ruleset: str) -> None:
    placed = table(ruleset).place("p1", ante(1, 100), ante(2, 350))
    assert {play.ante for play in placed.state.seats["p1"].plays.values()} == {100, 350}


# exclusive and shared boxes


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "three-box@1", "four-box@1"])
def test_the_first_bet_takes_a_box_of_an_exclusive_table(ruleset: str) -> None:
    placed = seated(ruleset, 2)
    placed.when(placed.place_command("p2", ante(2))).refused("box_taken", box=2)
    placed.place("p1", ante(2, 50))


@pytest.mark.parametrize(
    "command", [c.ClearBets("p1", at(1)), c.WithdrawBet("p1", 2, "ante", at(1)), c.UndoBet("p1", at(1))]
)
def test_clearing_frees_a_box(command: c.Command) -> None:
    placed = seated("four-box@1", 2)
    placed.do(command)
    placed.place("p2", ante(2))
    placed.when(placed.place_command("p1", ante(2))).refused("box_taken", box=2)


def test_a_box_is_freed_only_when_its_ante_goes() -> None:
    placed = table("dark-boxes@1").place("p1", ante(2), bonus_b(2, 50))
    placed.do(c.WithdrawBet("p1", 2, "bonus_player", at(1)))
    placed.when(placed.place_command("p2", ante(2))).refused("box_taken", box=2)


def test_an_undo_that_leaves_the_ante_keeps_the_box() -> None:
    placed = seated("four-box@1", 2).place("p1", ante(2, 50))
    placed.do(c.UndoBet("p1", at(1)))
    placed.when(placed.place_command("p2", ante(2))).refused("box_taken", box=2)


def test_a_shared_table_has_room_for_everyone() -> None:
    placed = table("live-shared@1")
    for number in range(300):
        placed.place(f"p{number}", ante(2), ante(1, blind=True))
    assert len(placed.state.seats) == 300
