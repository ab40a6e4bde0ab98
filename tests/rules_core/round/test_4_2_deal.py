"""RULES.md 4.2: who is dealt cards, in which order, and which of them lie face up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.rulesets.model import Ruleset
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, commitment, ruleset_with, salt_of


def closed(ruleset: str | Ruleset, *placements: c.Placement) -> Scripted:
    return Scripted(ruleset).open().place("p1", *placements).close_betting()


def rows(*boxes: int) -> tuple[str, ...]:
    """Card by card to each box and the dealer."""
    return tuple(
        place for index in range(5) for place in (*(f"box.{box}.{index}" for box in boxes), f"dealer.{index}")
    )


def laid(table: Scripted) -> dict[str, str]:
    """How each card of the deal was recorded: `up` or `down`."""
    table.lay()
    scans = [event for event in table.events if isinstance(event, e.CardScanned)]
    assert all((scan.card is None) != (scan.commitment is None) for scan in scans)
    return {scan.place: "up" if scan.commitment is None else "down" for scan in scans}


def test_a_shared_table_deals_five_cards_to_every_box_and_to_the_dealer() -> None:
    table = closed("live-shared@1", ante(1, blind=True))
    assert table.awaited() == rows(1, 2, 3)
    assert tuple(laid(table)) == rows(1, 2, 3)
    assert table.awaited() == ()


def test_an_exclusive_table_deals_only_to_the_boxes_in_play() -> None:
    table = closed("four-box@1", ante(4), ante(2, blind=True))
    assert tuple(laid(table)) == rows(2, 4)


def test_the_dealers_four_lie_face_down_and_the_last_face_up() -> None:
    found = laid(closed("live-shared@1", ante(2)))
    assert [found[f"dealer.{index}"] for index in range(5)] == ["down", "down", "down", "down", "up"]


def test_a_shared_tables_open_box_lies_face_up_and_its_blind_boxes_face_down() -> None:
    found = laid(closed("live-shared@1", ante(2)))
    by_box = {box: {found[f"box.{box}.{index}"] for index in range(5)} for box in (1, 2, 3)}
    assert by_box == {1: {"down"}, 2: {"up"}, 3: {"down"}}


@pytest.mark.parametrize("ruleset", ["dark-boxes@1", "classic@1", "three-box@1", "four-box@1"])
def test_private_boxes_lie_face_down_open_and_blind_ones(ruleset: str) -> None:
    others = () if ruleset == "three-box@1" else (ante(3, blind=True),)
    found = laid(closed(ruleset, ante(1), ante(2), *others))
    assert {face for place, face in found.items() if place.startswith("box.")} == {"down"}


def test_public_open_boxes_of_an_exclusive_table_lie_face_up_and_blind_ones_face_down() -> None:
    ruleset = ruleset_with("four-box@1", open_cards="public")
    found = laid(closed(ruleset, ante(1), ante(2, blind=True)))
    assert {found[f"box.1.{index}"] for index in range(5)} == {"up"}
    assert {found[f"box.2.{index}"] for index in range(5)} == {"down"}


def test_a_card_that_lies_face_up_is_recorded_as_it_is() -> None:
    table = closed("live-shared@1", ante(2)).lay(1)
    command = c.ScanCard("scan-2", parse_card("Qs"), salt_of("scan-2"), by=DEALER)
    table.when(command).then(e.CardScanned("box.2.0", "scan-2", "shoe", card="Qs"))
    table.when(replace(command, card_salt=None)).then(e.CardScanned("box.2.0", "scan-2", "shoe", card="Qs"))


def test_a_card_that_lies_face_down_is_recorded_by_its_commitment_alone() -> None:
    table = closed("live-shared@1", ante(2))
    command = c.ScanCard("scan-1", parse_card("Qs"), salt_of("scan-1"), by=DEALER)
    table.when(command).then(
        e.CardScanned("box.1.0", "scan-1", "shoe", commitment=commitment("Qs", "scan-1"))
    )


@pytest.mark.parametrize(
    "salt",
    [None, "", "00" * 15, "00" * 17, "0G" * 16, "AB" * 16],
    ids=["none", "empty", "short", "long", "not hex", "upper case"],
)
def test_a_face_down_card_needs_a_salt_of_sixteen_bytes(salt: str | None) -> None:
    table = closed("live-shared@1", ante(2))
    table.when(c.ScanCard("scan-1", parse_card("Qs"), salt)).refused("card_salt_missing")


@pytest.mark.parametrize("before", [0, 1])
def test_a_card_that_was_not_read_is_not_laid(before: int) -> None:
    table = closed("live-shared@1", ante(2)).lay(before)
    table.when(c.ScanCard("scan-1", None, salt_of("scan-1"))).refused("card_missing")


def test_a_scan_is_recorded_once() -> None:
    table = closed("live-shared@1", ante(2)).lay(1)
    table.when(c.ScanCard("box.1.0", parse_card("Qs"), salt_of("x"))).refused("scan_id_used")


def test_a_command_never_shows_a_face_down_card() -> None:
    scan = c.ScanCard("scan-1", parse_card("Qs"), salt_of("scan-1"))
    rescan = c.RescanCard("scan-2", "box.1.0", parse_card("Qs"), salt_of("scan-2"))
    manual = c.ConfirmCards(at(1), DEALER, (("box.1.0", parse_card("Qs")),))
    number = str(int(parse_card("Qs")))
    for command in (scan, rescan, manual):
        text = repr(command).replace("12:00:01", "")
        assert number not in text
        assert salt_of("scan-1") not in text
        assert salt_of("scan-2") not in text


def test_neither_events_nor_state_know_a_face_down_card() -> None:
    table = closed("live-shared@1", ante(2)).lay()
    hidden = [place for place, face in laid(table).items() if face == "down"]
    assert len(hidden) == 14
    text = repr(table.events) + repr(table.state) + repr(table.sealed)
    for place in hidden:
        assert f"'{table.laid[place]}'" not in text
        assert salt_of(place) not in text
        assert place not in table.state.cards


def test_no_more_cards_than_the_deal() -> None:
    table = closed("live-shared@1", ante(2)).lay()
    table.when(table.scan_command(table.next_card("nowhere"))).refused("no_card_awaited")


@pytest.mark.parametrize("count", [0, 1, 19])
def test_nothing_follows_before_all_cards_of_the_deal_lie(count: int) -> None:
    table = closed("live-shared@1", ante(2)).lay(count)
    place = rows(1, 2, 3)[count]
    table.when(c.ConfirmCards(at(20), DEALER)).refused("cards_missing", place=place)
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    table.when(c.Settle()).refused("round_not_decided")


def test_an_open_boxs_window_opens_when_the_cards_are_confirmed() -> None:
    table = closed("live-shared@1", ante(2)).lay()
    table.when(c.ConfirmCards(at(20), DEALER)).then(e.OptionsOpened(None, at(20), at(40), DEALER))
    table.when(c.ConfirmCards(at(22), "system")).then(e.OptionsOpened(None, at(22), at(42), "system"))
