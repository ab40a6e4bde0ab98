"""RULES.md 6: an option is offered only as far as the undealt deck, less the reserve, can serve it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.actions import allowed_actions
from rules_core.rulesets.model import Ruleset
from tests.rules_core.round.scripted import Scripted, ante, at, ruleset_with

BOX = {"box.1": "9s 9h Kh 4c 2s", "dealer": "Qs Jd 8h 5c 3d", "draw": "Qc 2d"}


def offered(table: Scripted) -> tuple[bool, int]:
    """Whether the box that is asked may have a sixth card, and how many cards it may exchange."""
    (player,) = {player for _, player in table.state.undecided}
    (option,) = allowed_actions(table.state, player, table.sealed).options
    return option.sixth_card, option.exchange_max


def exchange(table: Scripted, box: int, count: int) -> None:
    """The open box exchanges so many cards and bets; the next box opens."""
    player = table.state.owners[box]
    table.option(player, box, "exchange", *range(count))
    table.close_options()
    table.lay()
    table.confirm()
    table.final(player, box, "bet")
    table.close_finals()
    table.proceed()


def full_classic() -> Scripted:
    """Three players in all six boxes: 35 cards dealt, 17 left, 2 of them in reserve."""
    table = Scripted("classic@1", BOX).open()
    for player, boxes in (("p1", (1, 2)), ("p2", (3, 4)), ("p3", (5, 6))):
        table.place(player, *(ante(box) for box in boxes))
    return table.deal()


def test_six_boxes_use_the_deck_up_and_the_reserve_stays() -> None:
    table = full_classic()
    for box in (1, 2, 3):
        assert offered(table) == (True, 4)
        exchange(table, box, 4)
    assert offered(table) == (True, 3)
    table.when(table.option_command("p2", 4, "exchange", 0, 1, 2, 3)).refused("exchange_too_many", maximum=3)
    exchange(table, 4, 3)
    assert offered(table) == (False, 0)
    table.when(table.option_command("p3", 5, "sixth")).refused("deck_too_short")
    table.when(table.option_command("p3", 5, "exchange", 0)).refused("deck_too_short")


def test_bet_and_fold_need_no_card() -> None:
    table = full_classic()
    for box, count in ((1, 4), (2, 4), (3, 4), (4, 3)):
        exchange(table, box, count)
    table.when(table.option_command("p3", 5, "bet")).then(
        e.OptionChosen("p3", 5, "bet", table.now, (), 200, "p3.5.option.0")
    )
    table.when(table.option_command("p3", 5, "fold")).then(e.OptionChosen("p3", 5, "fold", table.now))


def test_the_reserve_serves_a_purchase_with_its_redraw() -> None:
    table = full_classic()
    for box, count in ((1, 4), (2, 4), (3, 4), (4, 3)):
        exchange(table, box, count)
    for box in (5, 6):
        table.option("p3", box, "fold")
        table.close_options()
        table.proceed()
    events = table.proceed()
    assert [type(event) for event in events] == [e.PurchaseOffered]
    table.buy("p1", 1)
    table.close_purchase()
    table.lay()
    assert (table.state.draws, table.awaited()) == (2, ())
    assert isinstance(table.confirm()[0], e.DealerRequalified)
    assert len(set(table.laid.values())) == 52


RESERVES = [("three-box@1", 1), ("classic@1", 2), ("dark-boxes@1", 2), ("four-box@1", 4)]


def burned_to(ruleset: str | Ruleset, left: int) -> Scripted:
    """One open box asked for its option with `left` cards undealt: 10 dealt, the others burned unread."""
    table = Scripted(ruleset, BOX).open().place("p1", ante(1)).deal()
    for number in range(42 - left):
        table.do(c.BurnCard(f"burn-{number}"))
    return table


@pytest.mark.parametrize(("ruleset", "reserve"), RESERVES)
@pytest.mark.parametrize("spare", [-1, 0, 1, 3])
def test_the_reserve_is_as_large_as_the_redraw_may_need_and_burned_cards_are_gone(
    ruleset: str, reserve: int, spare: int
) -> None:
    table = burned_to(ruleset, reserve + spare)
    assert offered(table) == (spare > 0, max(0, spare))
    exchange_of_two = table.option_command("p1", 1, "exchange", 0, 1)
    sixth = table.option_command("p1", 1, "sixth")
    if spare < 1:
        table.when(sixth).refused("deck_too_short")
        table.when(exchange_of_two).refused("deck_too_short")
    elif spare == 1:
        table.when(exchange_of_two).refused("exchange_too_many", maximum=1)
        table.do(sixth)
    else:
        table.do(exchange_of_two)


def test_a_ruleset_without_a_purchase_keeps_nothing_back() -> None:
    ruleset = ruleset_with("three-box@1", purchase=None, windows=("options", "final_options"))
    assert offered(burned_to(ruleset, 1)) == (True, 1)
    assert offered(burned_to(ruleset, 0)) == (False, 0)


def test_a_burned_card_that_was_read_is_as_gone_as_one_that_was_not() -> None:
    table = burned_to("three-box@1", 3)
    assert offered(table) == (True, 2)
    command = table.scan_command(table.next_card("nowhere"))
    table.do(c.BurnCard("read", command.card))
    assert offered(table) == (True, 1)


def test_a_misread_card_is_one_card() -> None:
    table = Scripted("three-box@1", BOX).open().place("p1", ante(1)).close_betting().lay()
    table.do(table.rescan_command("box.1.0", "Ac"))
    table.confirm()
    for number in range(39):
        table.do(c.BurnCard(f"burn-{number}"))
    assert offered(table) == (True, 2)


@pytest.mark.parametrize(("ruleset", "reserve"), RESERVES)
def test_a_purchase_is_offered_while_its_draws_are_there(ruleset: str, reserve: int) -> None:
    for left, may_buy in ((reserve, True), (0, False)):
        table = burned_to(ruleset, left).option("p1", 1, "bet")
        table.close_options()
        table.proceed()
        decision = table.when(c.Proceed(at(20))).decision
        assert isinstance(decision, tuple) == may_buy
        if not may_buy:
            assert isinstance(table.settle()[-1], e.RoundSettled)


def test_the_ruleset_still_bounds_what_a_full_deck_could_serve() -> None:
    table = Scripted("classic@1", BOX).open().place("p1", ante(1)).deal()
    assert offered(table) == (True, 4)
    five = Scripted("four-box@1", BOX).open().place("p1", ante(1)).deal()
    assert offered(five) == (True, 5)


def test_no_more_cards_are_burned_than_the_deck_has() -> None:
    table = burned_to("three-box@1", 0)
    table.when(c.BurnCard("one-more")).refused("deck_empty")
    table.when(c.BurnCard("one-more", parse_card("Ac"))).refused("deck_empty")


def test_no_more_cards_are_laid_than_the_deck_has() -> None:
    table = Scripted("live-shared@1", {"box.2": "9s 9h Kh 4c 2s"}).open().place("p1", ante(2)).deal()
    for number in range(32):
        table.do(c.BurnCard(f"burn-{number}"))
    table.option("p1", 2, "sixth")
    table.close_options()
    command = replace(table.scan_command(table.next_card("nowhere")), scan_id="one-more")
    table.when(command).refused("deck_empty")
