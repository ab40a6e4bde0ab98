"""What a round's feed shows is what the views of rules_core show, and never a hidden card."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pytest

from rules_core.canonical import canonical_bytes
from rules_core.cards import card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.evolve import evolve
from rules_core.round.sealed import SealedCard
from rules_core.round.state import new_round
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.views.events import Shown, Watch, redacted
from rules_core.views.viewers import Operations, Player, Public, Viewer
from tests.rules_core.test_views_secrecy import leaks
from tests.rules_core.views_rounds import START, HandPlayed, hand
from tests.table.watching.rounds import Played, played
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.feed import PrivatePartMissing, RoundFeed
from upcard_table.app.watching.shown import Item, KnownBonus, thinned
from upcard_table.entrypoints.grpc.shown import event_message

OF_PLAYERS = (
    e.BetPlaced,
    e.BetDeclined,
    e.BetWithdrawn,
    e.OptionChosen,
    e.FinalOptionChosen,
    e.PurchaseMade,
    e.PurchaseDeclined,
    e.PlayerSettled,
)
ROUNDS = [
    (ruleset, seed, cancelled_at)
    for ruleset in shipped_ids()
    for seed, cancelled_at in ((1, None), (2, None), (3, 25), (4, 45))
]


def apply(feed: RoundFeed, round_: Played, index: int) -> set[str]:
    """Take one event in, as a hub does."""
    recorded = round_.events[index]
    wanted = feed.wanted(recorded.event)
    if wanted:
        after, count = feed.span(wanted)
        private = [one.private for one in round_.events[after : after + count] if one.private is not None]
        feed.let_in(wanted, private)
    return feed.apply(recorded.event)


def shown_to(viewer: Viewer, round_: Played) -> list[Shown]:
    """All that the views show to a viewer."""
    watch, state = Watch(viewer), new_round(round_.ruleset)
    found: list[Shown] = []
    for position, recorded in enumerate(round_.events, 1):
        found += watch.see(recorded.event, position, evolve(state, recorded.event), round_.sealed)
    return found


def plain(items: Iterable[Item]) -> list[tuple[int, e.RoundEvent, dict[str, str]]]:
    """Items as comparable values."""
    return [(item.position, item.event, {one.place: one.card for one in item.cards}) for item in items]  # type: ignore[misc]  # of rounds alone


def private_of(sealed: SealedCard) -> bytes:
    """What lies beside the event of a face-down card."""
    return canonical_bytes({"card": card_text(sealed.card), "salt": sealed.salt})


def message_values(message: pb.ShownEvent) -> Iterator[object]:
    """Everything that a message says, as JSON."""
    yield json.loads(message.payload)
    yield [{card.place: card.card} for card in message.cards]
    yield [message.type, *(bonus.hand for bonus in message.bonuses)]


@pytest.mark.parametrize(("ruleset", "seed", "cancelled_at"), ROUNDS)
def test_a_feed_shows_what_the_views_show(ruleset: str, seed: int, cancelled_at: int | None) -> None:
    round_ = played(ruleset, seed, cancelled_at=cancelled_at)
    feed = RoundFeed("t1", 1)
    for index in range(len(round_.events)):
        apply(feed, round_, index)

    assert plain(feed.operations) == [(one.position, one.event, {}) for one in shown_to(Operations(), round_)]
    if round_.ruleset.shared:
        assert plain(feed.public) == [
            (position, thinned(redacted(Public(), one.event)), {})
            for position, one in enumerate(round_.events, 1)
            if not isinstance(one.event, OF_PLAYERS)
        ]
    else:
        assert plain(feed.public) == [(one.position, one.event, {}) for one in shown_to(Public(), round_)]
    for player in (*round_.players, "nobody"):
        expected = [
            (one.position, one.event, {card.place: card.card for card in one.cards})
            for one in shown_to(Player(player), round_)
            if one.cards or getattr(one.event, "player", None) == player
        ]
        assert plain(feed.own.get(player, [])) == expected


@pytest.mark.parametrize(("ruleset", "seed", "cancelled_at"), ROUNDS)
def test_no_message_shows_a_hidden_card(ruleset: str, seed: int, cancelled_at: int | None) -> None:
    round_ = played(ruleset, seed, every=2, cancelled_at=cancelled_at)
    feed = RoundFeed("t1", 1)
    for index, (_, secrets) in enumerate(round_.secrets()):
        counts = {player: len(items) for player, items in feed.own.items()}
        before = len(feed.public), len(feed.operations)
        concerned = apply(feed, round_, index)
        shared: list[tuple[Viewer, list[Item]]] = [
            (Public(), feed.public[before[0] :]),
            (Operations(), feed.operations[before[1] :]),
        ]
        own: list[tuple[Viewer, list[Item]]] = [
            (Player(player), feed.own[player][counts.get(player, 0) :]) for player in concerned
        ]
        for viewer, items in shared + own:
            for item in items:
                values = list(message_values(event_message(1, item)))
                assert leaks(values, secrets.secret_from(viewer)) == []
                assert leaks(repr(item), list(secrets.hidden.values())) == []
        somebodys = {one.commitment for player in round_.players for one in secrets.entitled(Player(player))}
        lying = {one for one in secrets.lying.values() if one in secrets.hidden}
        assert {one for one in lying if feed.sealed.knows(one)} <= somebodys


def test_some_of_these_rounds_show_private_cards_of_every_kind() -> None:
    kinds: set[tuple[bool, str]] = set()
    for ruleset, seed, _ in ROUNDS:
        round_, feed = played(ruleset, seed), RoundFeed("t1", 1)
        for index in range(len(round_.events)):
            apply(feed, round_, index)
        for items in feed.own.values():
            kinds |= {
                (round_.ruleset.shared, card.place.split(".")[0]) for one in items for card in one.cards
            }
    assert kinds == {(True, "switch"), (False, "box"), (False, "replacement")}


def test_bonus_b_of_a_private_box_is_known_with_its_cards() -> None:
    """It agrees with what is paid, and nobody but the player is told before the showdown."""
    told = 0
    for seed in range(40):
        round_, feed = played("dark-boxes@1", seed), RoundFeed("t1", 1)
        for index in range(len(round_.events)):
            apply(feed, round_, index)
        for player, items in feed.own.items():
            lines = {
                box.box: line
                for result in round_.state.seats[player].results
                for box in [result]
                for line in box.lines
                if line.wager == "bonus_player"
            }
            open_boxes = {play.box for play in round_.state.seats[player].plays.values() if not play.blind}
            bonuses = [bonus for item in items for bonus in item.bonuses]
            assert sorted(bonus.box for bonus in bonuses) == sorted(set(lines) & open_boxes)
            for bonus in bonuses:
                line = lines[bonus.box]
                assert (bonus.stake, bonus.returned) == (line.stake, line.returned)
                assert bonus.jackpot_share_percent == line.jackpot_share_percent
                assert (bonus.hand is None) == (bonus.returned == 0)
                told += 1
        assert not any(item.bonuses for item in (*feed.public, *feed.operations))
    assert told > 2


def test_a_winning_bonus_b_is_told_with_its_hand() -> None:
    table = HandPlayed("dark-boxes@1")
    antes = (c.Placement(1, "ante", 100), c.Placement(1, "bonus_player", 100))
    table.do(c.PlaceBet("p1", "EUR", table.new_id(), antes, START))
    table.deal(hand("box.1", "9s 9h 9d 4c 2d"))
    feed = RoundFeed("t1", 7)
    for event in table.events:
        wanted = feed.wanted(event)
        if wanted:
            opened = [table.sealed.open(commitment) for commitment in wanted]
            feed.let_in(wanted, [private_of(one) for one in opened])
        feed.apply(event)
    (disclosed,) = (item for item in feed.own["p1"] if item.cards)
    assert isinstance(disclosed.event, e.OptionsOpened)
    assert disclosed.bonuses == (KnownBonus(1, 100, "three_of_a_kind", 800),)


def test_a_crowds_figures_stand_for_its_choices() -> None:
    round_, feed = played("live-shared@1", 2, 6), RoundFeed("t1", 1)
    for index in range(len(round_.events)):
        apply(feed, round_, index)
    crowds = {type(item.event): item.crowd for item in feed.public if item.crowd is not None}
    closed, options = crowds[e.BettingClosed], crowds[e.OptionsClosed]
    plays = [play for seat in round_.state.seats.values() for play in seat.plays.values()]
    assert closed.players == len(round_.state.seats)
    assert sum(one.amount for one in closed.stakes if one.wager == "ante") == sum(play.ante for play in plays)
    assert dict(options.choices) == {
        choice: sum((play.option or "none") == choice for play in plays if not play.blind)
        for choice, _ in options.choices
    }
    assert not any("players" in json.loads(event_message(1, item).payload) for item in feed.public)


def test_a_private_part_that_is_missing_is_said_without_showing_anything() -> None:
    round_, feed = played("dark-boxes@1", 1), RoundFeed("t1", 1)
    for index, recorded in enumerate(round_.events):
        wanted = feed.wanted(recorded.event)
        if wanted:
            with pytest.raises(PrivatePartMissing, match=r"round-t1\.1: 5 face-down cards"):
                feed.let_in(wanted, [])
            return
        apply(feed, round_, index)
    pytest.fail("no card was disclosed")


def test_a_round_begins_with_its_opening() -> None:
    with pytest.raises(ValueError, match="does not begin with RoundOpened"):
        RoundFeed("t1", 1).apply(e.BettingClosed("", (1,)))
    assert shipped("classic@1").open_cards == "private"
