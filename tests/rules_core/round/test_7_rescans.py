"""RULES.md 7, Rescan: a misread card is read again until the cards are confirmed, and never later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, commitment, opening, salt_of

CARDS = {
    "box.1": "Th 9c 7d 6s 2h",
    "box.2": "9s 9h 9d 4c 2d",
    "box.3": "Ts 8c 6d 4h 2c",
    "switch": "Kh 7s 5h 3h Jc",
    "dealer": "Qs Jd 8h 5c 3d",
    "draw": "Tc",
}
SPARE = "Ac"  # a card that lies nowhere else in these rounds


def dealing(count: int = 52) -> Scripted:
    """Cards of the deal laid, not yet confirmed."""
    return Scripted("live-shared@1", CARDS).open().place("p1", ante(2)).close_betting().lay(count)


def again(place: str) -> str:
    return f"{place}-again"


@pytest.mark.parametrize("place", ["box.2.3", "dealer.4"])
def test_a_face_up_card_is_read_again(place: str) -> None:
    table = dealing()
    table.when(table.rescan_command(place, SPARE)).then(
        e.CardRescanned(place, again(place), "shoe", card=SPARE)
    )
    table.do(table.rescan_command(place, SPARE))
    table.confirm()


@pytest.mark.parametrize("place", ["box.1.0", "box.3.4", "dealer.0"])
def test_a_face_down_card_is_read_again_under_a_new_commitment(place: str) -> None:
    table = dealing()
    table.when(table.rescan_command(place, SPARE)).then(
        e.CardRescanned(place, again(place), "shoe", commitment=commitment(SPARE, again(place)))
    )


def test_a_card_is_read_again_while_others_are_still_awaited() -> None:
    table = dealing(3)
    awaited = table.awaited()
    table.do(table.rescan_command("box.2.0", SPARE))
    assert table.awaited() == awaited
    table.lay()
    table.confirm()


def test_a_card_may_turn_out_to_be_the_same() -> None:
    table = dealing()
    for place in ("box.2.3", "box.1.0"):
        command = table.rescan_command(place, table.laid[place])
        assert isinstance(table.when(command).decision, tuple)


def test_the_card_read_last_counts() -> None:
    table = dealing()
    table.do(table.rescan_command("box.2.0", SPARE))
    table.do(table.rescan_command("box.2.1", "Ad"))
    table.confirm()
    table.option("p1", 2, "bet")
    table.close_options()
    table.lay()
    table.confirm()
    table.proceed()
    table.close_purchase()
    table.settle()
    assert table.settled()["p1"].boxes[0].best == "one_pair"


def test_an_old_commitment_is_opened_with_the_card_that_lies_there() -> None:
    table = dealing()
    table.do(table.rescan_command("box.1.2", SPARE))
    table.do(table.rescan_command("dealer.0", "Ad"))
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    table.lay()
    boxes, dealer = table.confirm()
    assert boxes == e.CardsRevealed(
        (
            opening("box.1.0", "Th"),
            opening("box.1.1", "9c"),
            opening("box.1.2", "7d", superseded=True),
            opening("box.1.2", SPARE, again("box.1.2")),
            opening("box.1.3", "6s"),
            opening("box.1.4", "2h"),
            *table.openings("box.3"),
        ),
        final=False,
        confirmed_by=DEALER,
    )
    assert dealer == e.DealerRevealed(
        (
            opening("dealer.0", "Qs", superseded=True),
            opening("dealer.0", "Ad", again("dealer.0")),
            *table.openings("dealer")[1:],
        ),
        "nothing",
        qualified=False,
        confirmed_by=DEALER,
    )
    assert table.settle()[0] == e.CardsRevealed(table.openings("switch"), final=True)


def test_every_reading_of_a_card_is_opened_in_order() -> None:
    table = dealing()
    table.do(table.rescan_command("dealer.2", SPARE))
    table.do(replace(table.rescan_command("dealer.2", "Ad"), scan_id="third", card_salt=salt_of("third")))
    table.do(c.CancelRound("dealer_mistake", DEALER))
    event = table.events[-2]
    assert isinstance(event, e.CardsRevealed)
    assert [o for o in event.openings if o.place == "dealer.2"] == [
        opening("dealer.2", "8h", superseded=True),
        opening("dealer.2", SPARE, again("dealer.2"), superseded=True),
        opening("dealer.2", "Ad", "third"),
    ]


def test_a_misread_switch_card_is_opened_at_the_end() -> None:
    table = dealing()
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    table.lay()
    table.do(table.rescan_command("switch.1", SPARE))
    table.confirm()
    openings = table.openings("switch")
    assert table.settle()[0] == e.CardsRevealed(
        (
            openings[0],
            opening("switch.1", "7s", superseded=True),
            opening("switch.1", SPARE, again("switch.1")),
            *openings[2:],
        ),
        final=True,
    )


def test_a_misread_in_a_folded_private_box_is_opened_at_the_end() -> None:
    table = Scripted("three-box@1", CARDS).open().place("p1", ante(2)).close_betting().lay()
    table.do(table.rescan_command("box.2.4", SPARE))
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    table.proceed()
    assert table.settle()[0] == e.CardsRevealed(
        (
            *table.openings("box.2")[:4],
            opening("box.2.4", "2d", superseded=True),
            opening("box.2.4", SPARE, again("box.2.4")),
        ),
        final=True,
    )


def test_a_card_that_was_misread_may_come_out_elsewhere() -> None:
    table = dealing()
    for place in ("box.2.0", "box.1.0"):
        table.do(table.rescan_command(place, {"box.2.0": SPARE, "box.1.0": "Ad"}[place]))
    for place, misread in (("dealer.4", "9s"), ("dealer.1", "Th")):
        table.do(table.rescan_command(place, misread))
    table.confirm()
    table.option("p1", 2, "fold")
    table.close_options()
    table.lay()
    table.confirm()
    table.settle()


# until the cards are confirmed


def confirmed() -> Scripted:
    table = dealing()
    table.confirm()
    return table


def switch_confirmed() -> Scripted:
    table = confirmed().option("p1", 2, "sixth")
    table.close_options()
    table.lay()
    table.confirm()
    return table


def draw_confirmed() -> Scripted:
    table = switch_confirmed().final("p1", 2, "bet")
    table.close_finals()
    table.proceed()
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    table.lay()
    table.confirm()
    return table


@pytest.mark.parametrize("place", ["box.2.0", "box.1.0", "dealer.0", "dealer.4"])
def test_after_the_confirmation_a_dealt_card_is_not_read_again(place: str) -> None:
    table = confirmed()
    table.when(table.rescan_command(place, SPARE)).refused("card_confirmed", place=place)
    table.when(c.CancelRound("wrong_card_read", DEALER)).then(
        e.CardsRevealed(table.openings("box.1", "box.3", "dealer"), final=True),
        e.RoundCancelled("wrong_card_read"),
    )


def test_after_the_confirmation_a_switch_card_is_not_read_again() -> None:
    table = switch_confirmed()
    table.when(table.rescan_command("switch.0", SPARE)).refused("card_confirmed", place="switch.0")


def test_after_the_confirmation_a_draw_is_not_read_again() -> None:
    table = draw_confirmed()
    table.when(table.rescan_command("draw.0", SPARE)).refused("card_confirmed", place="draw.0")


def test_the_confirmation_of_switch_cards_leaves_dealt_cards_confirmed() -> None:
    table = confirmed().option("p1", 2, "sixth")
    table.close_options()
    table.lay(2)
    for place in ("box.1.0", "dealer.4"):
        table.when(table.rescan_command(place, SPARE)).refused("card_confirmed", place=place)
    assert isinstance(table.when(table.rescan_command("switch.1", SPARE)).decision, tuple)


def test_exclusive_a_boxs_cards_are_confirmed_box_by_box() -> None:
    table = Scripted("three-box@1", CARDS).open().place("p1", ante(1), ante(2)).deal()
    table.when(table.rescan_command("box.1.0", SPARE)).refused("card_confirmed", place="box.1.0")
    table.option("p1", 1, "exchange", 0)
    table.close_options()
    table.lay()
    assert isinstance(table.when(table.rescan_command("replacement.1.0", SPARE)).decision, tuple)
    table.confirm()
    table.when(table.rescan_command("replacement.1.0", SPARE)).refused(
        "card_confirmed", place="replacement.1.0"
    )


@pytest.mark.parametrize("place", ["box.3.0", "switch.0", "draw.0", "nowhere"])
def test_only_a_card_that_lies_can_be_read_again(place: str) -> None:
    table = dealing(2)
    table.when(table.rescan_command(place, SPARE)).refused("card_confirmed", place=place)


# what a rescan needs


def test_a_rescan_is_recorded_once() -> None:
    table = dealing()
    command = table.rescan_command("box.2.0", SPARE)
    table.do(command)
    table.when(command).refused("scan_id_used")
    table.when(replace(command, scan_id="box.1.0")).refused("scan_id_used")


@pytest.mark.parametrize("salt", [None, "00" * 15])
def test_a_face_down_rescan_needs_a_salt(salt: str | None) -> None:
    table = dealing()
    table.when(replace(table.rescan_command("box.1.0", SPARE), card_salt=salt)).refused("card_salt_missing")


def test_a_face_down_card_comes_from_the_shoe_reader_alone() -> None:
    table = dealing()
    command = replace(table.rescan_command("box.1.0", SPARE), source="manual")
    table.when(command).refused("card_not_expected", place="box.1.0")


# draws: a corrected card changes how many are drawn


def drawing(draws: str, ruleset: str = "dark-boxes@1") -> Scripted:
    """A bought exchange, these cards drawn and not yet confirmed."""
    cards = {"box.2": "9s 9h Kh 4c 2d", "dealer": "Qs Jd 8h 5c 3d", "draw": draws}
    table = Scripted(ruleset, cards).open().place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    return table.lay(len(draws.split()))


def test_a_draw_read_again_as_the_replaced_rank_asks_for_another() -> None:
    table = drawing("2c")
    assert table.awaited() == ()
    table.do(table.rescan_command("draw.0", "Qc"))
    assert table.awaited() == ("draw.1",)
    table.when(c.ConfirmCards(at(20), DEALER)).refused("cards_missing", place="draw.1")


def test_a_draw_read_again_as_another_rank_asks_for_no_more() -> None:
    table = drawing("Qc")
    assert table.awaited() == ("draw.1",)
    table.do(table.rescan_command("draw.0", "2c"))
    assert table.awaited() == ()
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.DealerRequalified(("2c", "Jd", "8h", "5c", "3d"), "nothing", qualified=False, confirmed_by=DEALER)
    )


def test_a_draw_that_would_make_a_later_one_too_many_is_refused() -> None:
    table = drawing("Qc 2c")
    table.when(table.rescan_command("draw.0", "Ts")).refused("draw_too_many", place="draw.0")
    table.do(table.rescan_command("draw.1", "Qd"))
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.DealerRequalified(("Qd", "Jd", "8h", "5c", "3d"), "nothing", qualified=False, confirmed_by=DEALER)
    )
