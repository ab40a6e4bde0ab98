"""RULES.md 7: a card seen twice is refused without a word of where it was first seen; burned cards."""

from __future__ import annotations

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import Refusal
from tests.rules_core.round.scripted import DEALER, Scripted, ante, salt_of

CARDS = {
    "box.1": "Th 9c 7d 6s 2h",
    "box.2": "9s 9h 9d 4c 2d",
    "box.3": "Ts 8c 6d 4h 2c",
    "switch": "Kh 7s 5h 3h Jc",
    "dealer": "Qs Jd 8h 5c 3d",
    "draw": "Tc",
}


def dealing(count: int = 52) -> Scripted:
    return Scripted("live-shared@1", CARDS).open().place("p1", ante(2)).close_betting().lay(count)


def replacing() -> Scripted:
    """The deal confirmed, two switch cards laid, a card burned."""
    table = dealing()
    table.confirm()
    table.do(c.BurnCard("burn-1", parse_card("Ac"), by=DEALER))
    table.option("p1", 2, "sixth")
    table.close_options()
    return table.lay(2)


SEEN = {
    "face up in a box": "9s",
    "the up-card": "3d",
    "face down in a blind box": "Th",
    "face down in the dealer's hand": "Qs",
    "face down among the switch cards": "Kh",
    "burned": "Ac",
}


def scan(card: str) -> c.ScanCard:
    return c.ScanCard("scan-9", parse_card(card), salt_of("scan-9"), by=DEALER)


def rescan(card: str) -> c.RescanCard:
    return c.RescanCard("scan-9", "switch.1", parse_card(card), salt_of("scan-9"), by=DEALER)


def burn(card: str) -> c.BurnCard:
    return c.BurnCard("scan-9", parse_card(card), by=DEALER)


@pytest.mark.parametrize("make", [scan, rescan, burn], ids=lambda make: make.__name__)
def test_a_card_seen_twice_is_refused_in_the_same_words_wherever_it_was_first_seen(make: type) -> None:
    table = replacing()
    first = table.when(make(SEEN["face up in a box"])).decision
    assert isinstance(first, Refusal)
    assert (first.code, dict(first.data)) == ("scan_problem", {})
    assert {where: table.when(make(card)).decision for where, card in SEEN.items()} == dict.fromkeys(
        SEEN, first
    )


@pytest.mark.parametrize("card", SEEN.values())
def test_the_refusal_names_neither_card_nor_place(card: str) -> None:
    refusal = replacing().when(scan(card)).decision
    assert isinstance(refusal, Refusal)
    text = repr(refusal)
    assert card not in text
    assert not [word for word in ("box.", "dealer.", "switch.", "Ten", "Queen", "burned") if word in text]


def test_a_drawn_card_and_a_replacement_card_count_too() -> None:
    private = {"box.1": "9s 9h Kh 4c 2d", "box.2": "8s 8c Kc 4s 2h", "dealer": "Qs Jd 8h 5c 3d", "draw": "Qd"}
    private["replacement.1"] = "Td"
    table = Scripted("four-box@1", private).open().place("p1", ante(1)).deal().option("p1", 1, "exchange", 4)
    table.close_options()
    table.lay()
    table.confirm()
    table.final("p1", 1, "bet")
    table.close_finals()
    table.proceed()
    table.proceed()
    table.buy("p1", 1)
    table.close_purchase()
    table.when(scan("Td")).refused("scan_problem")
    table.lay(1)
    assert table.awaited() == ("draw.1",)
    table.when(scan("Qd")).refused("scan_problem")
    table.when(scan("2d")).refused("scan_problem")


def test_a_refused_card_is_scanned_again_as_what_it_is() -> None:
    table = dealing(8)
    table.when(scan("Th")).refused("scan_problem")
    assert isinstance(table.when(scan("Ac")).decision, tuple)


@pytest.mark.parametrize(("place", "card"), [("box.1.0", "Th"), ("box.2.0", "9s")])
def test_the_other_place_is_rescanned_and_the_card_is_accepted(place: str, card: str) -> None:
    table = dealing(8)
    table.when(scan(card)).refused("scan_problem")
    table.do(table.rescan_command(place, "Ac"))
    assert isinstance(table.when(scan(card)).decision, tuple)


def test_or_the_round_is_cancelled() -> None:
    table = replacing()
    table.when(scan("Th")).refused("scan_problem")
    table.do(c.CancelRound("wrong_card_read", DEALER))
    assert table.state.step == "cancelled"


# burned cards


def test_a_burned_card_that_was_read_is_public() -> None:
    table = dealing(3)
    table.when(burn("Ac")).then(e.CardBurned("scan-9", "Ac"))


def test_a_burned_card_that_was_not_read_counts_only_as_gone() -> None:
    table = dealing(3)
    table.when(c.BurnCard("scan-9")).then(e.CardBurned("scan-9"))


def test_a_burned_card_takes_no_place() -> None:
    table = dealing(3)
    awaited = table.awaited()
    table.do(burn("Ac"))
    assert table.awaited() == awaited
    table.lay()
    table.confirm()


def test_a_burned_card_is_recorded_once() -> None:
    table = dealing(3)
    table.do(burn("Ac"))
    table.when(burn("Ac")).refused("scan_id_used")
    table.when(c.BurnCard("box.1.0", parse_card("Ad"))).refused("scan_id_used")


def test_a_card_is_burned_from_the_close_of_betting_to_the_settlement() -> None:
    table = Scripted("live-shared@1", CARDS).open().place("p1", ante(2))
    table.when(burn("Ac")).refused("no_cards_dealt_now")
    table.close_betting()
    steps = []

    def burned() -> None:
        steps.append(table.state.step)
        table.do(c.BurnCard(f"burn-{len(steps)}"))

    burned()
    table.lay()
    burned()
    table.confirm()
    burned()
    table.option("p1", 2, "sixth")
    table.close_options()
    burned()
    table.lay()
    table.confirm()
    burned()
    table.final("p1", 2, "bet")
    table.close_finals()
    burned()
    table.proceed()
    burned()
    table.proceed()
    burned()
    table.buy("p1", 2)
    table.close_purchase()
    burned()
    table.lay()
    table.confirm()
    burned()
    assert steps == [
        "deal",
        "deal",
        "options",
        "replace",
        "final_options",
        "next",
        "revealed",
        "purchase",
        "draw",
        "decided",
    ]
    table.settle()
    table.when(burn("Ac")).refused("no_cards_dealt_now")


def test_a_card_laid_in_a_hand_that_does_not_belong_there_cancels() -> None:
    table = dealing()
    table.when(scan("Ac")).refused("no_card_awaited")
    table.when(c.CancelRound("extra_card_dealt", DEALER)).then(
        e.CardsRevealed(table.openings("box.1", "box.3", "dealer"), final=True),
        e.RoundCancelled("extra_card_dealt"),
    )
