"""Whose bets, choices and results are seen, and when: RULES.md sections 4.1, 4.3, 4.6, 4.8 and 8."""

from __future__ import annotations

from typing import get_args

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import payload_of
from rules_core.views.events import Shown, Watch, redacted, shown_object, visible_to
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer, viewer_text
from tests.rules_core.views_rounds import GAME, START, HandPlayed, hand

EVERYONE: tuple[Viewer, ...] = (Player("p1"), Player("p2"), Dealer(), Operations(), Public())
NOT_P1 = EVERYONE[1:]
NEITHER_P1_NOR_OPERATIONS = (Player("p2"), Dealer(), Public())
CHOICES = (e.OptionChosen, e.FinalOptionChosen, e.PurchaseMade, e.PurchaseDeclined)


def shared_table() -> HandPlayed:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.bet("p2", 2)
    return table


def exclusive_table() -> HandPlayed:
    table = HandPlayed("four-box@1")
    table.bet("p1", 1)
    table.bet("p2", 2)
    return table


def kinds(shown: list[e.RoundEvent]) -> list[str]:
    return [type(event).__name__ for event in shown]


def test_4_1_a_shared_tables_bets_are_seen_by_others_when_betting_closes() -> None:
    table = shared_table()
    bets = table.events[1:]
    assert table.seen(Player("p1"), e.BetPlaced) == bets[:1]
    assert table.seen(Operations(), e.BetPlaced) == bets
    assert table.seen(Public(), e.BetPlaced) == table.seen(Dealer(), e.BetPlaced) == []
    table.close_betting()
    for viewer in EVERYONE:
        assert sorted(map(repr, table.seen(viewer, e.BetPlaced))) == sorted(map(repr, bets))
    assert kinds([shown.event for shown in table.shown(Public())]) == [
        "RoundOpened",
        "BetPlaced",
        "BetPlaced",
        "BettingClosed",
    ]
    assert [shown.position for shown in table.shown(Player("p1"))] == [1, 2, 3, 4]
    assert [shown.position for shown in table.shown(Player("p2"))] == [1, 3, 2, 4]


def test_4_1_a_withdrawal_is_seen_with_the_bet_that_it_takes_back() -> None:
    table = shared_table()
    table.do(c.UndoBet("p1", START))
    assert table.seen(Player("p2"), e.BetWithdrawn) == []
    assert len(table.seen(Operations(), e.BetWithdrawn)) == 1
    table.close_betting()
    assert kinds(table.seen(Player("p2"), e.BetPlaced, e.BetWithdrawn)) == [
        "BetPlaced",
        "BetPlaced",
        "BetWithdrawn",
    ]


def test_4_1_betting_that_starts_again_without_a_bet_shows_none_of_those_taken_back() -> None:
    table = HandPlayed("live-shared@1")
    table.bet("p1", 2)
    table.do(c.ClearBets("p1", START))
    table.close_betting()
    assert kinds(table.seen(Public(), *get_args(e.RoundEvent))) == ["RoundOpened", "WindowExtended"]


def test_4_1_an_exclusive_tables_bets_take_a_box_and_are_seen_at_once() -> None:
    table = exclusive_table()
    for viewer in EVERYONE:
        assert table.seen(viewer, e.BetPlaced) == table.events[1:]


def test_a_free_bet_is_its_players_business() -> None:
    table = HandPlayed("four-box@1")
    table.bet("p1", 1, funding="freebet-1")
    for insider in (Player("p1"), Operations()):
        assert table.seen(insider, e.BetPlaced) == table.events[1:]
    plain = HandPlayed("four-box@1")
    plain.bet("p1", 1)
    for viewer in NEITHER_P1_NOR_OPERATIONS:
        assert table.seen(viewer, e.BetPlaced) == plain.events[1:]


def test_4_3_a_shared_tables_options_are_hidden_until_the_window_closes() -> None:
    table = shared_table()
    table.deal()
    table.option("p1", 2, "exchange", 0, 1)
    assert table.seen(Player("p1"), *CHOICES) == table.events[-1:]
    for viewer in NOT_P1:
        assert table.seen(viewer, *CHOICES) == []
    table.option("p2", 2, "fold")
    table.close()
    for viewer in EVERYONE:
        assert len(table.seen(viewer, *CHOICES)) == 2
    shown = [shown.event for shown in table.shown(Public())]
    assert shown[-3:] == table.events[-3:]


def test_4_3_an_exclusive_tables_choices_show_at_once_without_cards() -> None:
    table = exclusive_table()
    table.deal()
    table.option("p1", 1, "exchange", 0, 1)
    for viewer in EVERYONE:
        assert table.seen(viewer, *CHOICES) == table.events[-1:]
    for viewer in NOT_P1:
        assert all(shown.cards == () for shown in table.shown(viewer))


def test_4_6_final_options_and_the_platforms_are_hidden_until_their_window_closes() -> None:
    table = shared_table()
    table.deal(GAME)
    table.option("p1", 2, "sixth")
    table.close()
    table.lay()
    table.confirm()
    table.final("p1", 2, "bet")
    for viewer in NOT_P1:
        assert table.seen(viewer, e.FinalOptionChosen) == []
    assert len(table.seen(Player("p1"), e.FinalOptionChosen)) == 1
    table.close()
    for viewer in EVERYONE:
        chosen = table.seen(viewer, e.FinalOptionChosen)
        assert {(event.player, event.by) for event in chosen if isinstance(event, e.FinalOptionChosen)} == {
            ("p1", "player"),
            ("p2", "platform"),
        }


def test_4_8_purchases_are_hidden_until_their_window_closes() -> None:
    table = shared_table()
    table.deal(hand("box.2", "Ah Ad"))
    table.option("p1", 2, "bet")
    table.option("p2", 2, "bet")
    table.close()
    table.lay()
    table.confirm()
    table.proceed()
    table.buy("p1", 2)
    for viewer in NOT_P1:
        assert table.seen(viewer, e.PurchaseMade, e.PurchaseDeclined) == []
        assert shown_last(table, viewer) == "PurchaseOffered"
    table.close()
    for viewer in EVERYONE:
        assert sorted(kinds(table.seen(viewer, e.PurchaseMade, e.PurchaseDeclined))) == [
            "PurchaseDeclined",
            "PurchaseMade",
        ]


def shown_last(table: HandPlayed, viewer: Viewer) -> str:
    return type(table.shown(viewer)[-1].event).__name__


def test_4_9_what_was_hidden_is_shown_when_the_round_is_cancelled() -> None:
    table = shared_table()
    table.deal()
    table.option("p1", 2, "fold")
    table.do(c.CancelRound("card_dropped", "staff:s1"))
    assert [type(shown.event).__name__ for shown in table.shown(Public())][-3:] == [
        "CardsRevealed",
        "OptionChosen",
        "RoundCancelled",
    ]


def test_8_a_declined_bet_is_told_to_its_player_and_to_operations() -> None:
    table = exclusive_table()
    table.do(c.PlaceBet("p1", "EUR", table.new_id(), (c.Placement(3, "ante", 100),), START, "refused"))
    for viewer in EVERYONE:
        told = table.seen(viewer, e.BetDeclined)
        expected = table.events[-1:] if viewer in (Player("p1"), Operations()) else []
        assert told == expected


def test_4_3_a_declined_choice_is_hidden_from_operations_as_long_as_a_choice_is() -> None:
    table = shared_table()
    table.deal()
    table.option("p1", 2, "exchange", 0, 1, funds="refused")
    assert table.seen(Player("p1"), e.BetDeclined) == table.events[-1:]
    assert table.seen(Operations(), e.BetDeclined) == []
    table.close()
    assert len(table.seen(Operations(), e.BetDeclined)) == 1
    assert table.seen(Player("p2"), e.BetDeclined) == table.seen(Public(), e.BetDeclined) == []


def test_4_3_a_declined_choice_of_an_exclusive_table_is_told_to_operations_at_once() -> None:
    table = exclusive_table()
    table.deal()
    table.option("p1", 1, "sixth", funds="unavailable")
    assert table.seen(Operations(), e.BetDeclined) == table.events[-1:]


def test_a_hold_declined_after_the_round_is_told_at_once() -> None:
    table = settled_table()
    stakes = (e.DeclinedStake(2, "option_fee", 100),)
    table.do(c.DeclineBet("p1", "EUR", table.new_id(), stakes, "hold_answered_late", START))
    assert table.seen(Operations(), e.BetDeclined) == table.events[-1:]


def settled_table() -> HandPlayed:
    table = shared_table()
    table.deal(GAME)
    table.option("p1", 2, "bet")
    table.option("p2", 2, "fold")
    table.close()
    table.lay()
    table.confirm()
    table.do(c.Settle())
    return table


def test_8_a_result_is_its_players_and_operations() -> None:
    table = settled_table()
    results = [event for event in table.events if isinstance(event, e.PlayerSettled)]
    assert [result.player for result in results] == ["p1", "p2"]
    assert table.seen(Operations(), e.PlayerSettled) == results
    assert table.seen(Player("p1"), e.PlayerSettled) == results[:1]
    assert table.seen(Player("p2"), e.PlayerSettled) == results[1:]
    assert table.seen(Public(), e.PlayerSettled) == table.seen(Dealer(), e.PlayerSettled) == []


def test_the_houses_sums_are_for_operations() -> None:
    table = settled_table()
    table.do(c.Resettle("wrong_result", "staff:s1", "staff:s2", refund=True))
    recorded = [event for event in table.events if isinstance(event, (e.RoundSettled, e.RoundResettled))]
    assert len(recorded) == 2
    assert all(event.totals for event in recorded)
    assert table.seen(Operations(), e.RoundSettled, e.RoundResettled) == recorded
    for viewer in (Player("p1"), Dealer(), Public()):
        shown = table.seen(viewer, e.RoundSettled, e.RoundResettled)
        assert [(type(event), payload_of(event)) for event in shown] == [
            (type(event), {**payload_of(event), "totals": []}) for event in recorded
        ]


@pytest.mark.parametrize("viewer", EVERYONE)
def test_everything_else_is_public_and_comes_as_recorded(viewer: Viewer) -> None:
    table = settled_table()
    table.do(
        c.Resettle("dealer_mistake", "staff:s1", "staff:s2", choices=(e.ChoiceCorrection(2, "p2", "bet"),))
    )
    one_players = (e.BetPlaced, e.BetDeclined, e.BetWithdrawn, *CHOICES, e.PlayerSettled)
    summed = (e.RoundSettled, e.RoundResettled)
    public = [event for event in table.events if not isinstance(event, (*one_players, *summed))]
    shown = [s.event for s in table.shown(viewer) if not isinstance(s.event, (*one_players, *summed))]
    assert shown == public


def test_every_event_has_a_rule() -> None:
    table = settled_table()
    samples = {type(event): event for event in table.events}
    assert {visible_to(Public(), event, table.state) for event in samples.values()} == {
        "now",
        "at_close",
        "never",
    }
    with pytest.raises(AssertionError):
        visible_to(Operations(), object(), table.state)  # type: ignore[arg-type]  # a kind of event without a rule


def test_8_everything_that_a_player_sees_has_the_rounds_number_and_its_place_in_the_stream() -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah Kd 7c 5s 2h"))
    opened = table.shown(Player("p1"))[-1]
    assert shown_object(opened) == {
        "round": 7,
        "position": len(table.events),
        "type": "OptionsOpened",
        "payload": payload_of(table.events[-1]),
        "cards": {"box.1.0": "Ah", "box.1.1": "Kd", "box.1.2": "7c", "box.1.3": "5s", "box.1.4": "2h"},
    }
    assert shown_object(table.shown(Player("p2"))[-1]) == {
        "round": 7,
        "position": len(table.events),
        "type": "OptionsOpened",
        "payload": payload_of(table.events[-1]),
    }


def test_a_watch_that_begins_late_tells_what_its_player_may_see_by_then() -> None:
    table = exclusive_table()
    table.deal(hand("box.1", "Ah Kd 7c 5s 2h"))
    table.option("p1", 1, "fold")
    (shown,) = Watch(Player("p1")).see(table.events[-1], 30, table.state, table.sealed)
    assert (shown.position, [private.card for private in shown.cards]) == (30, ["Ah", "Kd", "7c", "5s", "2h"])


def test_an_event_before_any_round_has_round_number_0() -> None:
    table = HandPlayed("four-box@1")
    table.state.opened = None
    event = table.events[0]
    assert Watch(Public()).see(event, 1, table.state, table.sealed) == (Shown(0, 1, event),)


def test_nothing_else_is_redacted() -> None:
    table = settled_table()
    kept = [event for event in table.events if redacted(Public(), event) == event]
    assert [event for event in table.events if event not in kept] == [table.events[-1]]


@pytest.mark.parametrize(
    ("viewer", "text"),
    [
        (Player("p1"), "player:p1"),
        (Dealer(), "dealer"),
        (Operations(), "operations"),
        (Public(), "public"),
    ],
)
def test_a_viewer_has_a_text(viewer: Viewer, text: str) -> None:
    assert viewer_text(viewer) == text
