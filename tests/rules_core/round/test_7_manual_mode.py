"""RULES.md 7, manual mode: no scan at the deal, cards are recorded when they are opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import Card, parse_card, parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, opening

HANDS = {
    "box.1": "Th 9c 7d 6s 2h",
    "box.2": "9s 9h 9d 4c 2d",
    "box.3": "Ts 8c 6d 4h 2c",
    "switch": "Kh 7s 5h 3h Jc",
    "dealer": "As Kd 8h 5c 3d",
}


def by_hand(command: c.ScanCard, *, card: bool) -> c.ScanCard:
    """The same card laid by the dealer's hand, typed in or left unread."""
    return replace(command, source="manual", card_salt=None, card=command.card if card else None)


def lay_by_hand(table: Scripted, count: int = 52) -> Scripted:
    while table.awaited() and count:
        place = table.awaited()[0]
        face_up = place.startswith(("box.2", "switch", "draw")) or place == "dealer.4"
        command = by_hand(table.scan_command(), card=face_up)
        table.do(command)
        count -= 1
    return table


def dealing(count: int = 52) -> Scripted:
    table = Scripted("live-shared@1", HANDS).open().place("p1", ante(2), ante(1, blind=True)).close_betting()
    return lay_by_hand(table, count)


def named(*places: str, **other: str) -> tuple[tuple[str, Card], ...]:
    """The cards of these groups, as they are named when they are opened; `other` cards for some places."""
    found = [
        (f"{group}.{index}", card)
        for group in places
        for index, card in enumerate(parse_cards(HANDS[group]))
        if not (group == "dealer" and index == 4)
    ]
    swapped = {place.replace("_", "."): parse_card(card) for place, card in other.items()}
    return tuple((place, swapped.get(place, card)) for place, card in found)


def opened(*groups: str) -> tuple[e.CardOpening, ...]:
    """What opens these groups, nothing of it proved by a commitment."""
    return tuple(
        e.CardOpening(f"{group}.{index}", text, committed=False)
        for group in groups
        for index, text in enumerate(HANDS[group].split())
        if not (group == "dealer" and index == 4)
    )


def decided() -> Scripted:
    """Dealt by hand, box 2 folded, the switch cards laid."""
    table = dealing()
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    return lay_by_hand(table)


ALL = ("box.1", "box.3", "dealer")


def test_a_face_down_card_is_laid_without_its_card_and_without_a_commitment() -> None:
    table = dealing(0)
    command = by_hand(table.scan_command(), card=False)
    table.when(command).then(e.CardScanned("box.1.0", "box.1.0", "manual"))


def test_a_face_down_card_is_not_typed_in() -> None:
    table = dealing(0)
    table.when(by_hand(table.scan_command(), card=True)).refused("card_not_expected", place="box.1.0")


def test_a_face_up_card_is_typed_in() -> None:
    table = dealing(1)
    table.when(by_hand(table.scan_command(), card=False)).refused("card_missing")
    table.when(by_hand(table.scan_command(), card=True)).then(
        e.CardScanned("box.2.0", "box.2.0", "manual", card="9s")
    )


def test_switch_cards_are_laid_face_up_for_all() -> None:
    table = dealing()
    table.confirm()
    table.close_options()
    table.when(by_hand(table.scan_command(), card=True)).then(
        e.CardScanned("switch.0", "switch.0", "manual", card="Kh")
    )


def test_cards_are_recorded_at_the_reveal_as_not_committed() -> None:
    table = decided()
    table.when(c.ConfirmCards(at(20), DEALER, named(*ALL))).then(
        e.CardsRevealed(opened("box.1", "box.3"), final=False, confirmed_by=DEALER),
        e.DealerRevealed(opened("dealer"), "ace_king", qualified=True, confirmed_by=DEALER),
    )


def test_a_whole_round_by_hand_leaves_nothing_to_open_at_the_end() -> None:
    table = decided()
    table.do(c.ConfirmCards(at(20), DEALER, named(*ALL)))
    assert [type(event) for event in table.settle()] == [e.PlayerSettled, e.RoundSettled]
    assert [box.outcome for box in table.settled()["p1"].boxes] == ["lose", "folded"]


def test_the_order_in_which_cards_are_named_is_nothing() -> None:
    table = decided()
    straight = table.when(c.ConfirmCards(at(20), DEALER, named(*ALL))).decision
    assert table.when(c.ConfirmCards(at(20), DEALER, tuple(reversed(named(*ALL))))).decision == straight


@pytest.mark.parametrize("place", ["box.1.3", "box.3.0", "dealer.2"])
def test_every_card_has_to_be_named(place: str) -> None:
    cards = tuple(one for one in named(*ALL) if one[0] != place)
    decided().when(c.ConfirmCards(at(20), DEALER, cards)).refused("card_missing", place=place)


@pytest.mark.parametrize("place", ["box.2.0", "dealer.4", "switch.0", "nowhere"])
def test_no_other_card_is_named(place: str) -> None:
    cards = (*named(*ALL), (place, parse_card("Ac")))
    decided().when(c.ConfirmCards(at(20), DEALER, cards)).refused("card_not_expected", place=place)


@pytest.mark.parametrize(
    ("place", "card"),
    [
        ("box_1_0", "9s"),  # lies face up in box 2
        ("box_1_0", "3d"),  # the up-card
        ("box_1_0", "Kh"),  # a switch card
        ("box_1_0", "9c"),  # named for the same box
        ("box_3_0", "Th"),  # named for box 1
        ("dealer_0", "Th"),  # named for box 1, opened in the other event
        ("dealer_0", "Kd"),  # named for the dealer
    ],
)
def test_a_card_seen_twice_is_refused_at_the_reveal_too(place: str, card: str) -> None:
    decided().when(c.ConfirmCards(at(20), DEALER, named(*ALL, **{place: card}))).refused("scan_problem")


def test_a_card_of_the_dealer_twice_for_a_box_is_refused_at_the_reveal() -> None:
    table = Scripted("live-shared@1", HANDS).open().place("p1", ante(1, blind=True)).close_betting()
    lay_by_hand(table, 3)
    table.lay(1)  # the dealer's first card comes from the shoe
    lay_by_hand(table)
    cards = tuple(one for one in named(*ALL, box_1_0="As") if one[0] != "dealer.0")
    table.when(c.ConfirmCards(at(20), DEALER, cards)).refused("scan_problem")


def test_an_unread_card_is_not_read_again() -> None:
    table = dealing(1)
    table.when(table.rescan_command("box.1.0", "Ac")).refused("card_not_expected", place="box.1.0")


def test_a_card_that_was_typed_in_wrongly_is_typed_in_again() -> None:
    table = dealing(2)
    typed = replace(table.rescan_command("box.2.0", "Ac"), source="manual", card_salt=None)
    table.when(typed).then(e.CardRescanned("box.2.0", "box.2.0-again", "manual", card="Ac"))


# the shoe reader fails, or comes back, during the deal


def half_dealt() -> Scripted:
    """Three cards from the shoe, a fourth too, the rest by hand; box 2 folded."""
    table = Scripted("live-shared@1", HANDS).open().place("p1", ante(2)).close_betting().lay(4)
    lay_by_hand(table)
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    return lay_by_hand(table)


SCANNED = {"box.1.0", "box.3.0", "dealer.0"}


def test_scanned_cards_stay_committed_and_the_others_are_named() -> None:
    table = half_dealt()
    expected = [opening(one.place, one.card) if one.place in SCANNED else one for one in opened(*ALL)]
    cards = tuple(one for one in named(*ALL) if one[0] not in SCANNED)
    table.when(c.ConfirmCards(at(20), DEALER, cards)).then(
        e.CardsRevealed(tuple(expected[:10]), final=False, confirmed_by=DEALER),
        e.DealerRevealed(tuple(expected[10:]), "ace_king", qualified=True, confirmed_by=DEALER),
    )


def test_a_scanned_card_is_not_named_again() -> None:
    half_dealt().when(c.ConfirmCards(at(20), DEALER, named(*ALL))).refused(
        "card_not_expected", place="box.1.0"
    )


@pytest.mark.parametrize("place", ["box.1.1", "dealer.1"])
def test_a_misread_card_that_really_lies_elsewhere_is_accepted_at_the_reveal(place: str) -> None:
    table = Scripted("live-shared@1", {**HANDS, "box.1": "Ac 9c 7d 6s 2h"}).open()
    table.place("p1", ante(1, blind=True)).close_betting().lay(1)
    table.do(table.rescan_command("box.1.0", "Th"))  # the shoe had read Ac, and fails soon after
    lay_by_hand(table)
    cards = tuple(one for one in named(*ALL) if one[0] != "box.1.0")
    cards = tuple((name, parse_card("Ac")) if name == place else (name, card) for name, card in cards)
    assert isinstance(table.when(c.ConfirmCards(at(20), DEALER, cards)).decision, tuple)


def test_no_card_is_named_when_a_window_opens() -> None:
    table = dealing()
    table.when(c.ConfirmCards(at(20), DEALER, named(*ALL))).refused("card_not_expected", place="box.1.0")


def test_no_card_is_named_when_the_purchase_opens_or_the_dealer_has_drawn() -> None:
    hands = {**HANDS, "dealer": "Qs Jd 8h 5c 3d", "draw": "Td"}
    table = Scripted("live-shared@1", hands).open().place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.lay()
    table.confirm()
    table.close_finals()
    table.proceed()
    card = (("box.1.0", parse_card("Ac")),)
    table.when(c.Proceed(table.now, card)).refused("card_not_expected", place="box.1.0")
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    table.lay()
    table.when(c.ConfirmCards(table.now, DEALER, card)).refused("card_not_expected", place="box.1.0")


# private tables


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "three-box@1", "four-box@1"])
def test_a_private_table_is_not_dealt_by_hand(ruleset: str) -> None:
    table = Scripted(ruleset, HANDS).open().place("p1", ante(1)).close_betting()
    for card in (True, False):
        table.when(by_hand(table.scan_command(), card=card)).refused("manual_mode_not_private")
    table.lay(2)
    typed = replace(table.rescan_command("box.1.0", "Ac"), source="manual")
    table.when(typed).refused("manual_mode_not_private")
    table.do(c.CancelRound("technical_failure", "system"))


# cancelled


def test_a_cancelled_round_opens_what_was_read_and_names_what_was_not() -> None:
    table = dealing(6)
    read = (("box.1.0", parse_card("Th")), ("dealer.0", parse_card("As")))
    table.when(c.CancelRound("card_dropped", DEALER, read)).then(
        e.CardsRevealed(
            (
                e.CardOpening("box.1.0", "Th", committed=False),
                e.CardOpening("dealer.0", "As", committed=False),
            ),
            final=True,
        ),
        e.RoundCancelled("card_dropped", ("box.1.1", "box.3.0")),
    )


def test_a_cancelled_round_of_which_nothing_was_read() -> None:
    table = dealing(3)
    table.when(c.CancelRound("card_dropped", DEALER)).then(
        e.RoundCancelled("card_dropped", ("box.1.0", "box.3.0"))
    )


def test_a_card_that_does_not_lie_there_is_not_named_at_a_cancellation() -> None:
    table = dealing(3)
    for place in ("box.1.1", "box.2.0", "nowhere"):
        command = c.CancelRound("card_dropped", DEALER, ((place, parse_card("Ac")),))
        table.when(command).refused("card_not_expected", place=place)


def test_a_card_seen_twice_is_not_named_at_a_cancellation() -> None:
    table = dealing(3)
    command = c.CancelRound("card_dropped", DEALER, (("box.1.0", parse_card("9s")),))
    table.when(command).refused("scan_problem")
