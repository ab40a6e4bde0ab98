"""What a screen shows now: RULES.md section 8, and the clauses behind each part."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from rules_core.cards import parse_card
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.actions import allowed_actions
from rules_core.round.state import new_round
from rules_core.rulesets.shipped import shipped
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.rules_core.views_rounds import GAME, START, HandPlayed, hand

P1 = Player("p1")
NOTHING = {"name": "nothing", "combinations": [], "odds": 0}
PAIR = {"name": "one_pair", "combinations": ["one_pair"], "odds": 1}


def view_of(table: HandPlayed, viewer: Viewer) -> Any:
    """The view, for a test to look into."""
    return table.view(viewer)


def exclusive_table() -> HandPlayed:
    table = HandPlayed("four-box@1")
    table.bet("p1", 1)
    table.bet("p2", 2)
    table.bet("p1", 3, blind=True)
    return table


def shared_table() -> HandPlayed:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.bet("p2", 2)
    return table


def test_8_the_round_is_named_and_its_windows_say_where_it_stands() -> None:
    table = shared_table()
    view = table.view(Public())
    assert (view["viewer"], view["table"], view["round"], view["ruleset"], view["step"]) == (
        "public",
        "t1",
        7,
        "live-shared@1",
        "betting",
    )
    assert view["window"] == {
        "kind": "betting",
        "box": None,
        "closes_at": "2026-01-01T00:00:15.000000Z",
        "extended_ms": 0,
    }
    table.do(c.ExtendWindow(START, 500, "fail_over"))
    assert view_of(table, Public())["window"]["extended_ms"] == 500


def progress(table: HandPlayed) -> str:
    """One letter a window: ahead, open, over (x)."""
    return "".join(
        {"ahead": "a", "open": "o", "over": "x"}[w["status"]] for w in view_of(table, P1)["progress"]
    )


def test_8_progress_of_a_shared_round() -> None:
    table = shared_table()
    assert progress(table) == "oaaa"
    table.close_betting()
    assert progress(table) == "xaaa"
    table.lay()
    table.confirm()
    assert progress(table) == "xoaa"
    table.close()
    table.lay()
    assert progress(table) == "xxaa"
    table.confirm()
    assert progress(table) == "xxoa"
    table.close()
    assert progress(table) == "xxxa"
    table.proceed()
    assert progress(table) == "xxxa"
    table.do(c.Settle())
    assert progress(table) == "xxxx"


def test_8_progress_of_an_exclusive_round_goes_box_by_box() -> None:
    table = exclusive_table()
    table.deal()
    assert (progress(table), view_of(table, P1)["window"]["box"]) == ("xoaa", 1)
    table.option("p1", 1, "sixth")
    table.close()
    assert progress(table) == "xaaa"
    table.lay()
    table.confirm()
    assert (progress(table), view_of(table, P1)["window"]["box"]) == ("xaoa", 1)
    table.final("p1", 1, "bet")
    table.close()
    table.proceed()
    assert (progress(table), view_of(table, P1)["window"]["box"]) == ("xoaa", 2)


def test_4_3_the_turns_of_an_exclusive_tables_boxes() -> None:
    table = exclusive_table()

    def turns() -> list[str | None]:
        return [box["play"]["turn"] for box in view_of(table, Public())["boxes"] if box["play"] is not None]

    assert turns() == ["ahead", "ahead", None]
    table.deal(GAME)
    assert turns() == ["now", "ahead", None]
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    assert turns() == ["over", "now", None]
    table.option("p2", 2, "bet")
    table.close()
    table.proceed()
    assert turns() == ["over", "over", None]
    early = exclusive_table()
    early.do(c.CancelRound("dealer_mistake", "staff:s1"))
    assert [box["play"]["turn"] for box in view_of(early, Public())["boxes"][:2]] == ["over", "over"]


def test_8_own_bets_and_their_total() -> None:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.bet("p1", 1, blind=True)
    table.do(c.PlaceBet("p1", "EUR", table.new_id(), (c.Placement(2, "bonus_player", 50),), START))
    own = view_of(table, P1)["own"]
    assert (own["currency"], own["total"], own["settled"]) == ("EUR", 450, None)
    assert [(box["box"], box["blind"], box["wagers"], box["staked"]) for box in own["boxes"]] == [
        (1, True, {"ante": 100, "bet": 200}, 300),
        (2, False, {"ante": 100, "bonus_player": 50}, 150),
    ]
    assert view_of(table, Player("p2"))["own"] == {
        "currency": None,
        "total": 0,
        "boxes": [],
        "settled": None,
    }


def test_8_own_choices_with_their_wagers() -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah As"))
    assert [box["asked"] for box in view_of(table, P1)["own"]["boxes"]] == [True, False]
    table.option("p1", 1, "exchange", 4, 2)
    table.close()
    table.lay(hand("replacement.1", "Ac 2s"))
    table.confirm()
    table.final("p1", 1, "bet", 100)
    (box, blind) = view_of(table, P1)["own"]["boxes"]
    assert box == {
        "box": 1,
        "player": "p1",
        "blind": False,
        "turn": "now",
        "wagers": {"ante": 100, "bet": 200, "option_fee": 100, "insurance": 100},
        "staked": 500,
        "option": "exchange",
        "positions": [4, 2],
        "bought": 2,
        "final": "bet",
        "final_by": "player",
        "purchase": None,
        "folded": False,
        "hand": {"name": "three_of_a_kind", "combinations": ["three_of_a_kind"], "odds": 3},
        "asked": False,
        "result": None,
    }
    assert (blind["box"], blind["blind"], blind["hand"]) == (3, True, None)


def test_4_6_what_the_platform_chose_is_marked() -> None:
    table = exclusive_table()
    table.deal()
    table.close()
    table.proceed()
    table.close()
    (box, _) = view_of(table, P1)["own"]["boxes"]
    assert (box["option"], box["final"], box["final_by"], box["folded"]) == ("none", "fold", "platform", True)


def test_8_the_current_hand_is_the_dealt_one_until_all_bought_cards_lie() -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah As"))
    hands = []
    table.option("p1", 1, "exchange", 4, 2)
    hands.append(view_of(table, P1)["own"]["boxes"][0]["hand"])
    table.close()
    table.lay(hand("replacement.1", "Kd Ks"), only=1)
    hands.append(view_of(table, P1)["own"]["boxes"][0]["hand"])
    table.lay(hand("replacement.1", "Kd Ks"))
    hands.append(view_of(table, P1)["own"]["boxes"][0]["hand"])
    two_pair = {"name": "two_pair", "combinations": ["two_pair"], "odds": 2}
    assert hands == [PAIR, PAIR, two_pair]
    assert view_of(table, Player("p2"))["boxes"][0]["hand"] is None
    assert view_of(table, P1)["boxes"][0]["hand"] == two_pair


def test_8_players_of_a_shared_box_have_hands_of_their_own() -> None:
    table = shared_table()
    table.deal(hand("box.2", "Ah As"))
    table.option("p1", 2, "exchange", 2, 3)
    table.option("p2", 2, "sixth")
    table.close()
    table.lay(hand("switch", "Ac Ad"))
    own = [view_of(table, Player(player))["own"]["boxes"][0]["hand"]["name"] for player in ("p1", "p2")]
    assert own == ["four_of_a_kind", "three_of_a_kind"]
    for viewer in (P1, Player("p2"), Dealer(), Operations(), Public()):
        boxes = view_of(table, viewer)["boxes"]
        assert [(box["box"], box["dealt"], box["hand"], box["play"]) for box in boxes] == [
            (1, True, None, None),
            (2, True, PAIR, None),
            (3, True, None, None),
        ]


def test_4_7_the_dealers_hand_is_named_when_it_is_open() -> None:
    table = exclusive_table()
    table.deal(GAME)
    assert view_of(table, Public())["dealer"] == {"hand": None, "final": None}
    for player, box in (("p1", 1), ("p2", 2)):
        table.option(player, box, "bet")
        table.close()
        table.proceed()
    assert view_of(table, Public())["dealer"] == {"hand": {"name": "ace_king", "game": True}, "final": None}


def bought_table() -> HandPlayed:
    table = exclusive_table()
    table.deal()
    for player, box in (("p1", 1), ("p2", 2)):
        table.option(player, box, "bet")
        table.close()
        table.proceed()
    table.proceed()
    table.buy("p1", 1)
    table.close()
    return table


def test_4_8_the_dealers_new_hand_is_named_when_its_cards_are_confirmed() -> None:
    table = bought_table()
    table.lay({"draw.0": "7c"})
    nothing = {"name": "nothing", "game": False}
    assert view_of(table, Public())["dealer"] == {"hand": nothing, "final": None}
    assert view_of(table, Public())["cards"]["draw.0"] == "7c"
    table.confirm()
    assert view_of(table, Public())["dealer"] == {
        "hand": nothing,
        "final": {"name": "one_pair", "game": True, "cards": ["3d", "5h", "7s", "9c", "7c"]},
    }
    assert view_of(table, P1)["own"]["boxes"][0]["wagers"] == {"ante": 100, "bet": 200, "purchase_fee": 100}


def test_8_the_dealer_sees_what_the_table_waits_for() -> None:
    table = shared_table()
    desks = [view_of(table, Dealer())["desk"]]
    table.close_betting()
    table.lay(only=6)
    desks.append(view_of(table, Dealer())["desk"])
    table.lay()
    desks.append(view_of(table, Dealer())["desk"])
    table.confirm()
    table.option("p2", 2, "fold")
    desks.append(view_of(table, Dealer())["desk"])
    assert desks == [
        {"undecided": 0, "awaited": None, "to_lay": 0, "confirm": False},
        {"undecided": 0, "awaited": "box.3.1", "to_lay": 14, "confirm": False},
        {"undecided": 0, "awaited": None, "to_lay": 0, "confirm": True},
        {"undecided": 1, "awaited": None, "to_lay": 0, "confirm": False},
    ]
    assert view_of(table, Operations())["desk"] == desks[-1]
    assert {"desk", "house"}.isdisjoint(table.view(Public()))


def test_burned_cards_are_public_if_they_were_read() -> None:
    table = shared_table()
    table.close_betting()
    table.do(c.BurnCard(table.new_id(), None))
    table.do(c.BurnCard(table.new_id(), parse_card("As")))
    assert view_of(table, Public())["burned"] == [None, "As"]


def settled_table() -> HandPlayed:
    table = exclusive_table()
    table.deal(GAME | hand("box.1", "Ah As"))
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    table.option("p2", 2, "fold")
    table.close()
    table.proceed()
    table.do(c.Settle())
    return table


def test_8_results_are_shown_to_their_player_once_settled() -> None:
    table = settled_table()
    own = view_of(table, P1)["own"]
    assert own["settled"] == {"revision": 1, "staked": 600, "returned": 500, "net": -100}
    assert [(box["result"]["outcome"], box["result"]["net"]) for box in own["boxes"]] == [
        ("win", 200),
        ("lose", -300),
    ]
    assert own["boxes"][0]["result"]["lines"][1] == {
        "wager": "bet",
        "stake": 200,
        "returned": 400,
        "reason": "bet_paid",
    }
    assert view_of(table, Operations())["house"] == {
        "players": 2,
        "declined": 0,
        "totals": [{"currency": "EUR", "players": 2, "staked": 700, "returned": 500}],
    }
    for viewer in (Dealer(), Public()):
        assert '"result"' not in json.dumps(table.view(viewer))


def test_4_9_a_correction_shows_what_counts_now() -> None:
    table = settled_table()
    fixes = (e.CardCorrection("box.2.0", "Qd"),)
    choice = e.ChoiceCorrection(2, "p2", option="bet")
    table.do(c.Resettle("wrong_card_read", "staff:s1", "staff:s2", cards=fixes, choices=(choice,)))
    view = view_of(table, Player("p2"))
    assert (view["corrected"], view["cards"]["box.2.0"]) == (["box.2.0"], "Qd")
    (box,) = view["own"]["boxes"]
    assert (box["option"], box["wagers"], box["hand"]) == ("bet", {"ante": 100, "bet": 200}, PAIR)
    assert (view["own"]["settled"]["revision"], box["result"]["outcome"]) == (2, "win")


@pytest.mark.parametrize("box", [1, 2])
def test_8_the_actions_are_those_that_the_round_allows(box: int) -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah As Ac"))
    player = f"p{box}"
    if box == 2:
        table.option("p1", 1, "bet")
        table.close()
        table.proceed()
        table.final("p1", 1, "stand")
        table.close()
        table.proceed()
    actions = view_of(table, Player(player))["actions"]
    assert actions == json.loads(json.dumps(asdict(allowed_actions(table.state, player, table.sealed))))
    assert [option["box"] for option in actions["options"]] == [box]


def test_8_the_final_options_of_a_private_box_come_from_its_own_cards_alone() -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah As Ac"))
    table.option("p1", 1, "bet")
    table.close()
    table.proceed()
    (final,) = view_of(table, P1)["actions"]["finals"]
    assert (final["choices"], final["insurance"]) == (["stand"], {"min": 100, "max": 300})
    assert view_of(table, Player("p2"))["actions"]["finals"] == []


def test_8_repeat_is_offered_from_the_bets_of_the_round_before() -> None:
    table = HandPlayed("four-box@1")
    previous = (c.Placement(2, "ante", 100),)
    view: Any = table_view(P1, table.state, table.sealed, currency="EUR", previous=previous)
    assert view["actions"]["repeat"] is True
    assert view_of(table, P1)["actions"]["repeat"] is False


def test_before_the_round_is_open_there_is_a_table_without_a_number() -> None:
    state = new_round(shipped("three-box@1"))
    view = table_view(P1, state, HandPlayed("three-box@1").sealed)
    assert (view["table"], view["round"], view["window"], view["cards"]) == (None, None, None, {})
    assert view["boxes"] == [{"box": box, "dealt": False, "hand": None, "play": None} for box in (1, 2, 3)]


@pytest.mark.parametrize("viewer", [P1, Player("p2"), Dealer(), Operations(), Public()])
def test_a_view_is_plain_json(viewer: Viewer) -> None:
    for table in (exclusive_table(), shared_table(), settled_table(), bought_table()):
        view = table.view(viewer)
        assert json.loads(json.dumps(view)) == view
