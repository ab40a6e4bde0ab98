"""Face-down cards: RULES.md sections 4.2, 4.4, 4.7 and 7 (hidden card)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round.sealed import Sealed, SealMissingError
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import shipped
from rules_core.views.entitlement import entitled_places, known_to
from rules_core.views.events import PrivateCard, Shown
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.rules_core.views_rounds import GAME, HandPlayed, hand

OTHERS: tuple[Viewer, ...] = (Player("p2"), Player("nobody"), Dealer(), Operations(), Public())
BOX_1 = tuple(f"box.1.{i}" for i in range(5))
BOX_3 = tuple(f"box.3.{i}" for i in range(5))
BOX_2 = tuple(f"box.2.{i}" for i in range(5))


class Untouchable(Sealed):
    """Sealed cards that nobody may ask for."""

    def open(self, commitment: str) -> None:  # type: ignore[override]  # it never returns
        raise AssertionError(f"asked for {commitment}")

    def knows(self, commitment: str) -> bool:
        raise AssertionError(f"asked about {commitment}")


def cards_of(table: HandPlayed, viewer: Viewer) -> dict[str, str]:
    cards = table.view(viewer)["cards"]
    assert isinstance(cards, dict)
    return cards


def faces(table: HandPlayed, viewer: Viewer, *places: str) -> list[str]:
    cards = cards_of(table, viewer)
    return [cards[place] for place in places]


def told(table: HandPlayed, viewer: Viewer) -> list[tuple[str, str, str]]:
    """The private cards that came with events: (event, place, card)."""
    return [
        (type(shown.event).__name__, private.place, private.card)
        for shown in table.shown(viewer)
        for private in shown.cards
    ]


def private_table() -> HandPlayed:
    """Box 1 open and box 3 blind for p1, box 2 open for p2; the turn of box 1 is next."""
    table = HandPlayed("four-box@1")
    table.bet("p1", 1)
    table.bet("p2", 2)
    table.bet("p1", 3, blind=True)
    return table


def test_4_2_a_private_box_is_seen_by_nobody_before_its_turn() -> None:
    table = private_table()
    table.close_betting()
    table.lay({"dealer.4": "Ks"})
    for viewer in (Player("p1"), *OTHERS):
        assert set(cards_of(table, viewer).values()) == {"hidden", "Ks"}
        assert len(cards_of(table, viewer)) == 20
    assert entitled_places(table.state, "p1") == ()


def test_4_2_its_own_player_sees_a_private_box_when_its_turn_opens() -> None:
    table = private_table()
    dealt = hand("box.1", "Ah Kd 7c 5s 2h")
    table.deal(dealt)
    assert entitled_places(table.state, "p1") == BOX_1
    assert {place: cards_of(table, Player("p1"))[place] for place in BOX_1} == dealt
    assert told(table, Player("p1")) == [("OptionsOpened", place, card) for place, card in dealt.items()]
    for viewer in OTHERS:
        assert faces(table, viewer, *BOX_1) == ["hidden"] * 5
        assert told(table, viewer) == []


def test_4_2_the_next_box_is_seen_when_its_own_turn_opens() -> None:
    table = private_table()
    table.deal()
    assert entitled_places(table.state, "p2") == ()
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    assert entitled_places(table.state, "p2") == BOX_2
    assert entitled_places(table.state, "p1") == BOX_1


def test_4_2_a_blind_box_stays_face_down_for_its_own_player_too() -> None:
    table = private_table()
    table.deal()
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    table.option("p2", 2, "fold")
    table.close()
    for viewer in (Player("p1"), *OTHERS):
        assert faces(table, viewer, *BOX_3) == ["hidden"] * 5
    table.proceed()
    for viewer in (Player("p1"), *OTHERS):
        assert "hidden" not in faces(table, viewer, *BOX_3)


def test_4_2_a_blind_box_has_no_turn_of_its_own_when_the_box_after_it_has() -> None:
    table = HandPlayed("four-box@1")
    table.bet("p1", 1, blind=True)
    table.bet("p1", 2)
    table.deal()
    assert entitled_places(table.state, "p1") == BOX_2
    assert faces(table, Player("p1"), *BOX_1) == ["hidden"] * 5


def test_4_4_replacement_cards_of_a_private_box_are_seen_by_its_player_once_laid() -> None:
    table = private_table()
    table.deal({"box.1.0": "Ah"})
    table.option("p1", 1, "exchange", 3, 0)
    table.close()
    table.lay({"replacement.1.0": "Kh"}, only=1)
    assert entitled_places(table.state, "p1") == (*BOX_1, "replacement.1.0")
    assert faces(table, Player("p1"), "box.1.0", "replacement.1.0") == ["Ah", "Kh"]
    assert told(table, Player("p1"))[5:] == [("CardScanned", "replacement.1.0", "Kh")]
    for viewer in OTHERS:
        assert faces(table, viewer, "replacement.1.0") == ["hidden"]


def test_4_7_private_boxes_that_did_not_fold_open_after_the_dealers_hand() -> None:
    table = private_table()
    table.deal(GAME)
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    table.option("p2", 2, "fold")
    table.close()
    table.proceed()
    for viewer in (Dealer(), Operations(), Public(), Player("p1")):
        assert "hidden" not in faces(table, viewer, *BOX_1, *(f"dealer.{i}" for i in range(5)))


def test_4_9_a_folded_private_box_is_its_players_alone_until_the_end_of_the_round() -> None:
    table = private_table()
    table.deal(GAME)
    table.option("p1", 1, "fold")
    table.close()
    table.proceed()
    table.option("p2", 2, "bet")
    table.close()
    table.proceed()
    assert entitled_places(table.state, "p1") == BOX_1
    assert "hidden" not in faces(table, Player("p1"), *BOX_1)
    for viewer in OTHERS:
        assert faces(table, viewer, *BOX_1) == ["hidden"] * 5
    table.do(c.Settle())
    assert entitled_places(table.state, "p1") == ()
    for viewer in OTHERS:
        assert "hidden" not in cards_of(table, viewer).values()


def shared_table() -> HandPlayed:
    """p1 buys three cards, p2 the sixth, p3 none; the switch cards are laid next."""
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.bet("p2", 2)
    table.bet("p2", 1, blind=True)
    table.bet("p3", 2)
    table.deal(GAME)
    table.option("p1", 2, "exchange", 4, 0, 2)
    table.option("p2", 2, "sixth")
    table.option("p3", 2, "bet")
    table.close()
    return table


SWITCH = hand("switch", "Ah Kd 7c 5s 2h")


@pytest.mark.parametrize(("player", "seen"), [("p1", 3), ("p2", 1), ("p3", 0), ("nobody", 0)])
def test_4_4_the_first_k_switch_cards_are_seen_by_whoever_bought_k(player: str, seen: int) -> None:
    table = shared_table()
    table.lay(SWITCH)
    mine = dict(list(SWITCH.items())[:seen])
    assert entitled_places(table.state, player) == tuple(mine)
    hidden = dict.fromkeys(list(SWITCH)[seen:], "hidden")
    assert {p: t for p, t in cards_of(table, Player(player)).items() if p in SWITCH} == mine | hidden
    assert told(table, Player(player)) == [("CardScanned", place, card) for place, card in mine.items()]


@pytest.mark.parametrize("viewer", [Dealer(), Operations(), Public()])
def test_7_switch_cards_are_hidden_from_who_bought_none_until_the_end(viewer: Viewer) -> None:
    table = shared_table()
    table.lay(SWITCH)
    table.confirm()
    table.close()
    table.proceed()
    assert faces(table, viewer, *SWITCH) == ["hidden"] * 5
    table.do(c.Settle())
    assert faces(table, viewer, *SWITCH) == list(SWITCH.values())


def test_7_switch_cards_are_seen_one_by_one_as_they_are_laid() -> None:
    table = shared_table()
    table.lay(SWITCH, only=2)
    assert entitled_places(table.state, "p1") == ("switch.0", "switch.1")
    assert "switch.2" not in cards_of(table, Player("p1"))


def test_7_a_card_read_again_is_shown_again_to_who_may_see_it_and_the_misread_one_no_more() -> None:
    table = shared_table()
    table.lay(SWITCH)
    table.rescan("switch.1", "Ks")
    assert told(table, Player("p1"))[3:] == [("CardRescanned", "switch.1", "Ks")]
    assert told(table, Player("p2"))[1:] == []
    assert faces(table, Player("p1"), "switch.1") == ["Ks"]
    assert "Kd" not in cards_of(table, Player("p1")).values()


def test_4_2_open_boxes_of_a_public_table_are_open_to_all() -> None:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.deal(hand("box.2", "Ah Kd 7c 5s 2h"))
    for viewer in OTHERS:
        assert faces(table, viewer, *BOX_2) == ["Ah", "Kd", "7c", "5s", "2h"]
        assert faces(table, viewer, *BOX_1, "dealer.0") == ["hidden"] * 6


def public_boxes() -> Ruleset:
    """An exclusive table whose open boxes lie open, which no shipped ruleset has."""
    made = parse_ruleset({**ruleset_object(shipped("four-box@1")), "id": "open@1", "open_cards": "public"})
    assert isinstance(made, Ruleset)
    return made


def test_4_2_an_exclusive_table_may_show_its_open_boxes_and_what_they_buy() -> None:
    table = HandPlayed(public_boxes())
    table.bet("p1", 1)
    table.bet("p1", 2, blind=True)
    table.deal()
    table.option("p1", 1, "sixth")
    table.close()
    table.lay({"replacement.1.0": "Kh"})
    assert entitled_places(table.state, "p1") == ()
    for viewer in OTHERS:
        assert "hidden" not in faces(table, viewer, *BOX_1)
        assert faces(table, viewer, "replacement.1.0", *BOX_2) == ["Kh", *["hidden"] * 5]


def test_7_a_card_laid_by_hand_without_a_scan_is_hidden_and_switch_cards_lie_open() -> None:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.close_betting()
    while table.state.awaited:
        place = table.state.awaited[0]
        if place.startswith("box.2") or place == "dealer.4":
            table.lay(only=1)
        else:
            table.do(c.ScanCard(table.new_id(), None, source="manual"))
    assert faces(table, Public(), "box.1.0", "dealer.0") == ["hidden", "hidden"]
    assert entitled_places(table.state, "p1") == ()
    table.confirm()
    table.option("p1", 2, "sixth")
    table.close()
    table.do(c.ScanCard(table.new_id(), parse_card("Ah"), source="manual"))
    assert faces(table, Public(), "switch.0") == ["Ah"]


def test_4_9_the_cards_of_a_cancelled_round_are_open_to_all() -> None:
    table = private_table()
    table.deal()
    table.do(c.CancelRound("technical_failure", "staff:s1"))
    for viewer in OTHERS:
        assert "hidden" not in cards_of(table, viewer).values()
    assert table.view(Public())["progress"] == [
        {"window": name, "status": "over"} for name in ("betting", "options", "final_options", "purchase")
    ]


@pytest.mark.parametrize("viewer", [Dealer(), Operations(), Public(), Player("p2"), Player("nobody")])
@pytest.mark.parametrize("make", [private_table, shared_table])
def test_7_sealed_cards_are_not_even_asked_for_but_for_who_may_see_them(
    viewer: Viewer, make: Callable[[], HandPlayed]
) -> None:
    table = make()
    if table.state.step == "betting":
        table.deal()
    assert len(known_to(viewer, table.state, Untouchable())) == 0
    view = table_view(viewer, table.state, Untouchable())
    assert view == table.view(viewer)


def test_a_missing_seal_of_an_entitled_card_is_a_broken_invariant() -> None:
    table = private_table()
    table.deal()
    with pytest.raises(SealMissingError):
        table_view(Player("p1"), table.state, Sealed())
    assert table_view(Player("p2"), table.state, Sealed()) == table.view(Player("p2"))


def test_the_repr_of_a_shown_event_never_holds_a_private_card() -> None:
    shown = Shown(7, 1, HandPlayed("four-box@1").events[0], (PrivateCard("box.1.0", "Ah"),))
    assert "box.1.0" in repr(shown)
    assert "Ah" not in repr(shown)
    assert "Ah" in json.dumps([private.card for private in shown.cards])
