"""RULES.md 4.7: which hands open, in which order, and what has to come before."""

from __future__ import annotations

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import DEALER, Scripted, ante, at, ruleset_with

NO_GAME = {"dealer": "Qs Jd 8h 5c 3d"}
GAME = {"dealer": "As Kd 8h 5c 3d"}


def shared(cards: dict[str, str], *, fold: bool = False) -> Scripted:
    """Box 2 decided, the switch cards laid and not yet confirmed."""
    table = Scripted("live-shared@1", {"box.2": "9s 9h Kc 4c 2d", **cards}).open()
    table.place("p1", ante(2), ante(1, blind=True)).deal()
    table.option("p1", 2, "fold" if fold else "bet")
    table.close_options()
    return table.lay()


@pytest.mark.parametrize(("cards", "hand", "game"), [(GAME, "ace_king", True), (NO_GAME, "nothing", False)])
def test_shared_blind_boxes_open_then_the_dealers_hand(
    cards: dict[str, str], hand: str, *, game: bool
) -> None:
    table = shared(cards)
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.CardsRevealed(table.openings("box.1", "box.3"), final=False, confirmed_by=DEALER),
        e.DealerRevealed(table.openings("dealer"), hand, game, DEALER),
    )


def test_shared_the_dealer_opens_even_when_every_box_has_folded() -> None:
    table = Scripted("live-shared@1", GAME).open().place("p1", ante(2)).place("p2", ante(2)).deal()
    table.option("p1", 2, "fold").option("p2", 2, "fold")
    table.close_options()
    table.lay()
    table.when(c.ConfirmCards(at(20), DEALER)).then(
        e.CardsRevealed(table.openings("box.1", "box.3"), final=False, confirmed_by=DEALER),
        e.DealerRevealed(table.openings("dealer"), "ace_king", qualified=True, confirmed_by=DEALER),
    )


def test_shared_after_a_final_window_the_hands_open_by_themselves() -> None:
    table = Scripted("live-shared@1", {"box.2": "9s 9h Kc 4c 2d", **GAME}).open().place("p1", ante(2)).deal()
    table.option("p1", 2, "sixth")
    table.close_options()
    table.lay()
    table.confirm()
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    table.final("p1", 2, "fold")
    table.close_finals()
    table.when(c.ConfirmCards(at(20), DEALER)).refused("nothing_to_confirm")
    table.when(c.Proceed(at(20))).then(
        e.CardsRevealed(table.openings("box.1", "box.3"), final=False),
        e.DealerRevealed(table.openings("dealer"), "ace_king", qualified=True),
    )


def test_shared_nothing_opens_before_the_switch_cards_are_confirmed() -> None:
    table = shared(GAME)
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    table.when(c.Settle()).refused("round_not_decided")


def test_shared_with_blind_boxes_alone_the_deal_is_confirmed_and_they_open() -> None:
    table = Scripted("live-shared@1", GAME).open().place("p1", ante(3, blind=True)).close_betting().lay()
    table.when(c.ConfirmCards(at(20), "system")).then(
        e.CardsRevealed(table.openings("box.1", "box.3"), final=False, confirmed_by="system"),
        e.DealerRevealed(table.openings("dealer"), "ace_king", qualified=True, confirmed_by="system"),
    )


PRIVATE = {
    "box.1": "9s 9h Kc 4c 2d",
    "box.2": "7s 7h 6c 4d 2h",
    "box.3": "Th Jh 6d 4h 2c",
    "box.4": "Ac Ah 6h 4s 2s",
    "replacement.1": "Td",
    "replacement.2": "5d 6s",
}


def private(cards: dict[str, str], *folded: int) -> Scripted:
    """Boxes 1 to 3 open, 4 blind; box 1 bought a card, box 2 two; those of `folded` folded at the end."""
    table = Scripted("four-box@1", {**PRIVATE, **cards}).open()
    table.place("p1", ante(1), ante(2)).place("p2", ante(3), ante(4, blind=True)).deal()
    for player, box, positions in (("p1", 1, (4,)), ("p1", 2, (0, 1))):
        table.option(player, box, "exchange", *positions)
        table.close_options()
        table.lay()
        table.confirm()
        table.final(player, box, "fold" if box in folded else "bet")
        table.close_finals()
        table.proceed()
    table.option("p2", 3, "fold" if 3 in folded else "bet")
    table.close_options()
    return table


@pytest.mark.parametrize(("cards", "hand", "game"), [(GAME, "ace_king", True), (NO_GAME, "nothing", False)])
def test_private_the_dealers_hand_opens_first_then_the_boxes(
    cards: dict[str, str], hand: str, *, game: bool
) -> None:
    table = private(cards)
    groups = ("box.1", "replacement.1", "box.2", "replacement.2", "box.3", "box.4")
    table.when(c.Proceed(at(20))).then(
        e.DealerRevealed(table.openings("dealer"), hand, game),
        e.CardsRevealed(table.openings(*groups), final=False),
    )


def test_private_a_folded_box_stays_closed_with_what_it_bought() -> None:
    table = private(NO_GAME, 2, 3)
    table.when(c.Proceed(at(20))).then(
        e.DealerRevealed(table.openings("dealer"), "nothing", qualified=False),
        e.CardsRevealed(table.openings("box.1", "replacement.1", "box.4"), final=False),
    )


def test_private_the_dealer_opens_even_when_every_box_has_folded() -> None:
    table = Scripted("three-box@1", {**PRIVATE, **NO_GAME}).open().place("p1", ante(1), ante(3)).deal()
    table.option("p1", 1, "fold")
    table.close_options()
    table.proceed()
    table.option("p1", 3, "fold")
    table.close_options()
    table.when(c.Proceed(at(20))).then(e.DealerRevealed(table.openings("dealer"), "nothing", qualified=False))


def test_public_exclusive_only_blind_boxes_are_left_to_open_and_they_open_first() -> None:
    ruleset = ruleset_with("four-box@1", open_cards="public")
    table = Scripted(ruleset, {**PRIVATE, **GAME}).open().place("p1", ante(1), ante(4, blind=True)).deal()
    table.option("p1", 1, "bet")
    table.close_options()
    table.when(c.Proceed(at(20))).then(
        e.CardsRevealed(table.openings("box.4"), final=False),
        e.DealerRevealed(table.openings("dealer"), "ace_king", qualified=True),
    )


def test_private_with_a_game_the_round_is_ready_to_settle_and_no_window_opens() -> None:
    table = private(GAME)
    table.proceed()
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    assert isinstance(table.settle()[-1], e.RoundSettled)


def test_shared_with_a_game_the_round_is_ready_to_settle_and_no_window_opens() -> None:
    table = shared(GAME)
    table.confirm()
    table.when(c.Proceed(at(20))).refused("nothing_to_do")
    table.when(table.buy_command("p1", 2)).refused("window_not_open", box=2)
    assert isinstance(table.settle()[-1], e.RoundSettled)


@pytest.mark.parametrize("kind", ["shared", "private"])
def test_without_a_game_the_purchase_window_opens_before_anything_is_settled(kind: str) -> None:
    table = shared(NO_GAME) if kind == "shared" else private(NO_GAME)
    if kind == "shared":
        table.confirm()
    else:
        table.proceed()
    table.when(c.Settle()).refused("purchase_not_asked")
    assert [type(event) for event in table.proceed()] == [e.PurchaseOffered]


def test_the_dealers_hand_is_a_game_by_its_five_cards() -> None:
    for dealer, hand, game in (
        ("As Qd 8h 5c 3d", "nothing", False),
        ("Ks Qd Jh Tc 8d", "nothing", False),
        ("2s 2d 8h 5c 3d", "one_pair", True),
        ("5s 4d 3h 2c Ad", "straight", True),
    ):
        table = shared({"dealer": dealer, "box.2": "9s 9h Kc 4c 2h"})
        event = table.confirm()[-1]
        assert isinstance(event, e.DealerRevealed)
        assert (event.hand, event.qualified) == (hand, game)
