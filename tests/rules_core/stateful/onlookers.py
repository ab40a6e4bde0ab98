"""Who watches a round: nobody is shown a hidden card or another's choice early (RULES.md 4.3 and 7)."""

from __future__ import annotations

from dataclasses import replace

from rules_core.cards import card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState
from rules_core.rulesets.model import Ruleset
from rules_core.views.entitlement import entitled_places
from rules_core.views.events import Shown, Watch
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.rules_core.test_views_secrecy import BETS, CHOICES, Guarded, Secrets, leaks

ALONE = (e.BetDeclined, e.PlayerSettled)
"""Events that never reach anyone but their player and operations (docs/views.md)."""
WINDOWS = (e.BettingClosed, e.OptionsClosed, e.FinalOptionsClosed, e.PurchaseClosed, e.RoundCancelled)


def public_cards(state: RoundState) -> set[str]:
    """The cards that everybody sees; a misread that is hidden may have been one that comes later."""
    burned = (card for card in state.burned if card is not None)
    return {card_text(card) for card in (*state.cards.values(), *state.corrected_cards.values(), *burned)}


class TableSecrets(Secrets):
    """What is hidden, also where cards come by hand: what nobody has read, nobody can give away."""

    def record(self, event: e.RoundEvent, command: c.Command) -> None:
        """Take an event in."""
        if isinstance(event, (e.CardsRevealed, e.DealerRevealed)):
            event = replace(event, openings=tuple(o for o in event.openings if o.committed))
        super().record(event, command)


class Onlookers:
    """A few viewers of a round, all of whom see every event, and each the table whenever asked."""

    def __init__(self, ruleset: Ruleset, players: tuple[str, ...]) -> None:
        self.ruleset = ruleset
        self.secrets = TableSecrets(ruleset)
        viewers: tuple[Viewer, ...] = (*map(Player, players), Operations(), Public())
        self.watches = {viewer: Watch(viewer) for viewer in viewers}
        self.seen: dict[Viewer, set[int]] = {viewer: set() for viewer in viewers}
        self.events: list[e.RoundEvent] = []
        self.closed_up_to = 0
        """Position of the last event that closed a window."""

    def record(self, event: e.RoundEvent, command: c.Command, state: RoundState, sealed: Sealed) -> None:
        """Take an event in: `state` is the one after it."""
        self.events.append(event)
        self.secrets.record(event, command)
        position = len(self.events)
        if isinstance(event, WINDOWS):
            self.closed_up_to = position
        for viewer, watch in self.watches.items():
            new = watch.see(event, position, state, self._guarded(viewer, sealed))
            self._check_shown(viewer, new)

    def _guarded(self, viewer: Viewer, sealed: Sealed) -> Sealed:
        allowed = {secret.commitment for secret in self.secrets.entitled(viewer)}
        return Guarded(sealed, allowed)

    def _check_shown(self, viewer: Viewer, new: tuple[Shown, ...]) -> None:
        shared = self.ruleset.shared
        for shown in new:
            event = shown.event
            assert shown.position not in self.seen[viewer]
            self.seen[viewer].add(shown.position)
            if shown.cards:
                mine = {secret.place: secret.card for secret in self.secrets.entitled(viewer)}
                assert {card.place: card.card for card in shown.cards}.items() <= mine.items()
            own = viewer == Player(getattr(event, "player", ""))
            assert own or viewer == Operations() or not isinstance(event, ALONE)
            hidden_bet = isinstance(event, BETS) and viewer != Operations()
            if shared and not own and (hidden_bet or isinstance(event, CHOICES)):
                assert shown.position < self.closed_up_to, "another's choice while its window is open"

    def look(self, state: RoundState, sealed: Sealed) -> None:
        """Everybody looks at the table."""
        everyone = (*self.watches, *map(Player, state.seats), Player("nobody"), Dealer())
        for viewer in dict.fromkeys(everyone):
            self._look(viewer, state, sealed)

    def _look(self, viewer: Viewer, state: RoundState, sealed: Sealed) -> None:
        view = table_view(viewer, state, self._guarded(viewer, sealed))
        mine = {secret.place: secret.card for secret in self.secrets.entitled(viewer)}
        open_to_viewer = public_cards(state) | {*mine.values()}
        secrets = [s for s in self.secrets.secret_from(viewer) if s.card not in open_to_viewer]
        assert leaks(view, secrets) == []
        if isinstance(viewer, Player):
            assert set(entitled_places(state, viewer.player)) == set(mine)
        lying = {p: cm for p, cm in self.secrets.lying.items() if cm in self.secrets.hidden}
        public = {place: card_text(card) for place, card in (state.cards | state.corrected_cards).items()}
        hidden = dict.fromkeys((*lying, *state.unread), "hidden")
        assert view["cards"] == hidden | public | mine

    def all_seen(self) -> None:
        """At the end everybody has seen everything once, but what is others' alone."""
        assert not self.secrets.hidden
        for viewer, seen in self.seen.items():
            everything = {
                position
                for position, event in enumerate(self.events, 1)
                if not isinstance(event, ALONE) or viewer in (Operations(), Player(event.player))
            }
            assert seen == everything
