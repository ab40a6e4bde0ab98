"""RULES.md 4.8 and 6: the dealer's new card, drawn once or again as `same_rank_redraw` says."""

from __future__ import annotations

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at

BOX = "9s 9h Kh 4c 2d"


def bought(ruleset: str, dealer: str, draws: str) -> Scripted:
    """A pair of nines in box 2 that bought; the first draw is awaited, the clock stands at second 20."""
    table = (
        Scripted(ruleset, {"box.2": BOX, "dealer": dealer, "draw": draws}).open().place("p1", ante(2)).deal()
    )
    table.option("p1", 2, "bet")
    table.close_options()
    table.lay()
    table.now = at(20)
    if table.ruleset.shared:
        table.confirm()
    else:
        table.proceed()
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    return table


def drawn(table: Scripted) -> list[e.RoundEvent]:
    """The cards drawn, up to those that the ruleset wants."""
    before = len(table.events)
    table.lay()
    return table.events[before:]


def scanned(index: int, card: str) -> e.CardScanned:
    return e.CardScanned(f"draw.{index}", f"draw.{index}", "shoe", card=card)


EVERY = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")
ONE_DRAW = [
    # dealer, the card drawn, the hand then: cards, name, game
    ("Qs Jd 8h 5c 3d", "Tc", ("Tc", "Jd", "8h", "5c", "3d"), "nothing", False),
    ("Qs Jd 8h 5c 3d", "5d", ("5d", "Jd", "8h", "5c", "3d"), "one_pair", True),
    ("3s Jd 8h 5c Ad", "Jc", ("3s", "Jd", "8h", "5c", "Jc"), "one_pair", True),
    ("Qd Jd 8d Kc 3d", "2h", ("Qd", "Jd", "8d", "2h", "3d"), "nothing", False),
    ("Qd Jd 8d Kc 3d", "Ad", ("Qd", "Jd", "8d", "Ad", "3d"), "flush", True),
    ("As Qd Jc Tc 4h", "Ks", ("Ks", "Qd", "Jc", "Tc", "4h"), "nothing", False),
]


@pytest.mark.parametrize("ruleset", EVERY)
@pytest.mark.parametrize(("dealer", "draw", "cards", "hand", "game"), ONE_DRAW)
def test_the_highest_card_is_replaced_in_its_place_by_the_next_card(
    ruleset: str, dealer: str, draw: str, cards: tuple[str, ...], hand: str, *, game: bool
) -> None:
    table = bought(ruleset, dealer, draw)
    assert drawn(table) == [scanned(0, draw)]
    table.when(c.ConfirmCards(at(20), DEALER)).then(e.DealerRequalified(cards, hand, game, DEALER))


def test_the_new_hand_counts_only_when_the_cards_are_confirmed() -> None:
    table = bought("live-shared@1", "Qs Jd 8h 5c 3d", "5d")
    table.when(c.ConfirmCards(at(20), DEALER)).refused("cards_missing", place="draw.0")
    table.lay()
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    table.when(c.ConfirmCards(at(20), "system")).then(
        e.DealerRequalified(("5d", "Jd", "8h", "5c", "3d"), "one_pair", qualified=True, confirmed_by="system")
    )


def test_one_dealer_requalified_a_round() -> None:
    table = bought("live-shared@1", "Qs Jd 8h 5c 3d", "5d")
    table.lay()
    table.confirm()
    table.when(c.ConfirmCards(at(20), DEALER)).refused("nothing_to_confirm")
    table.settle()
    assert sum(isinstance(event, e.DealerRequalified) for event in table.events) == 1


REDRAWS = [
    # ruleset, the draws laid, the dealer's hand after them
    ("live-shared@1", "Qc", ("Qc", "Jd", "8h", "5c", "3d")),
    ("three-box@1", "Qc", ("Qc", "Jd", "8h", "5c", "3d")),
    ("dark-boxes@1", "Qc 2c", ("2c", "Jd", "8h", "5c", "3d")),
    ("dark-boxes@1", "Qc Qh", ("Qh", "Jd", "8h", "5c", "3d")),
    ("classic@1", "Qc 2c", ("2c", "Jd", "8h", "5c", "3d")),
    ("classic@1", "Qc Qh", ("Qh", "Jd", "8h", "5c", "3d")),
    ("four-box@1", "Qc 2c", ("2c", "Jd", "8h", "5c", "3d")),
    ("four-box@1", "Qc Qh 2c", ("2c", "Jd", "8h", "5c", "3d")),
    ("four-box@1", "Qc Qh Qd 2c", ("2c", "Jd", "8h", "5c", "3d")),
]


@pytest.mark.parametrize(("ruleset", "draws", "cards"), REDRAWS, ids=str)
def test_the_replaced_rank_again_is_redrawn_as_the_ruleset_says(
    ruleset: str, draws: str, cards: tuple[str, ...]
) -> None:
    table = bought(ruleset, "Qs Jd 8h 5c 3d", draws)
    assert drawn(table) == [scanned(index, card) for index, card in enumerate(draws.split())]
    table.when(table.scan_command("Ac", "one-more")).refused("no_card_awaited")
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.DealerRequalified(cards, "nothing", qualified=False, confirmed_by=DEALER)
    )


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "four-box@1"])
def test_a_redraw_that_makes_a_game_is_the_hand(ruleset: str) -> None:
    table = bought(ruleset, "Qs Jd 8h 5c 3d", "Qc 5d")
    assert drawn(table) == [scanned(0, "Qc"), scanned(1, "5d")]
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.DealerRequalified(("5d", "Jd", "8h", "5c", "3d"), "one_pair", qualified=True, confirmed_by=DEALER)
    )


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "four-box@1"])
def test_the_redraw_stops_as_soon_as_the_dealer_qualifies_with_the_same_rank(ruleset: str) -> None:
    table = bought(ruleset, "Qs Jd 8d 5d 3d", "Qd 2c")
    assert drawn(table) == [scanned(0, "Qd")]
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.DealerRequalified(("Qd", "Jd", "8d", "5d", "3d"), "flush", qualified=True, confirmed_by=DEALER)
    )


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "four-box@1"])
def test_another_rank_is_not_redrawn_though_there_is_no_game(ruleset: str) -> None:
    table = bought(ruleset, "Qs Jd 8h 5c 3d", "Tc")
    assert drawn(table) == [scanned(0, "Tc")]
    assert table.awaited() == ()


def test_one_sequence_for_all_buyers_and_the_result_stands_for_them_alone() -> None:
    cards = {"box.2": BOX, "dealer": "Qs Jd 8h 5c 3d", "draw": "5d"}
    table = Scripted("live-shared@1", cards).open()
    for player in ("p1", "p2", "p3"):
        table.place(player, ante(2))
    table.deal()
    for player in ("p1", "p2", "p3"):
        table.option(player, 2, "bet")
    table.close_options()
    table.lay()
    table.confirm()
    table.proceed()
    table.buy("p1", 2).decline("p2", 2).buy("p3", 2)
    table.close_purchase()
    assert drawn(table) == [scanned(0, "5d")]
    table.confirm()
    table.settle()
    outcomes = {player: event.boxes[0].outcome for player, event in table.settled().items()}
    assert outcomes == {"p1": "win", "p2": "no_game", "p3": "win"}
