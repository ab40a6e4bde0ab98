"""One round as it is shown: folded event by event, what everybody sees and what is a player's own kept apart.

A pure function of the round's stream, so that any instance shows the same in the same order, and a watcher
can go on at another one. Nothing is asked of each watcher: an event is given to the players whom it concerns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed, commitment_of
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.shipped import shipped
from rules_core.views.events import Watch, redacted, visible_to
from rules_core.views.viewers import Operations, Player, Public
from upcard_table.app.rounds.live import read_private
from upcard_table.app.watching.crowd import crowd_of
from upcard_table.app.watching.disclosing import Disclosures, wanted_by
from upcard_table.app.watching.shown import Audience, Item, thinned
from upcard_table.domain.words import round_stream

_OF_PLAYERS: Final = (
    e.BetPlaced,
    e.BetDeclined,
    e.BetWithdrawn,
    e.OptionChosen,
    e.FinalOptionChosen,
    e.PurchaseMade,
    e.PurchaseDeclined,
    e.PlayerSettled,
)
_NOTHING: Final = Sealed()


class PrivatePartMissing(LookupError):
    """A face-down card that a player may see has no private part beside it: a broken invariant of the log."""


class RoundFeed:
    """A round so far."""

    __slots__ = (
        "_disclosures",
        "_everyone",
        "_laid_at",
        "_staff",
        "_state",
        "number",
        "operations",
        "own",
        "position",
        "public",
        "sealed",
        "stream",
        "turns",
    )

    def __init__(self, table: str, number: int) -> None:
        self.number = number
        self.stream = round_stream(table, number)
        self.position = 0
        """Of the last event that is in the state."""
        self.sealed = Sealed()
        """Face-down cards that some player may see, and no others."""
        self.public: list[Item] = []
        self.operations: list[Item] = []
        self.own: dict[str, list[Item]] = {}
        self.turns = 0
        """Grows with each step and window: what players may do has changed."""
        self._state: RoundState | None = None
        self._disclosures = Disclosures()
        self._laid_at: dict[str, int] = {}
        """Where each face-down card was scanned, by commitment."""
        self._everyone = Watch(Public())
        self._staff = Watch(Operations())

    @property
    def state(self) -> RoundState | None:
        """The state after the last event; None before the first."""
        return self._state

    def items(self, audience: Audience) -> list[Item]:
        """What is shown to an audience so far, in its order."""
        return self.operations if audience == "operations" else self.public

    def wanted(self, event: e.RoundEvent) -> tuple[str, ...]:
        """Commitments of cards that this, the next event, lets somebody see and that are not open here yet.

        They have to be let in (`let_in`) before it is applied.
        """
        if self._state is None:
            return ()
        return tuple(one for one in wanted_by(event, self._state) if not self.sealed.knows(one))

    def span(self, wanted: Sequence[str]) -> tuple[int, int]:
        """Where the private parts of these cards are: after which position, and in how many positions.

        A card that is not laid yet is laid by the next event.
        """
        positions = [self._laid_at.get(commitment, self.position + 1) for commitment in wanted]
        after = min(positions) - 1
        return after, max(positions) - after

    def let_in(self, wanted: Sequence[str], private: Sequence[bytes]) -> None:
        """Keep the wanted ones among these private parts. Raises PrivatePartMissing if one is not there."""
        missing = set(wanted)
        for part in private:
            try:
                card, salt = read_private(part)
            except (LookupError, TypeError, ValueError):
                continue  # it is missing, then; its words might show what it holds
            commitment = commitment_of(card, salt)
            if commitment in missing:
                self.sealed.add(card, salt)
                missing.discard(commitment)
        if missing:
            raise PrivatePartMissing(f"{self.stream}: {len(missing)} face-down cards have no private part")

    def apply(self, event: e.RoundEvent) -> set[str]:
        """Take the next event in; the players who have something new of their own."""
        state = self._fold(event)
        position = self.position
        concerned: set[str] = set()
        if isinstance(event, _OF_PLAYERS) and visible_to(Player(event.player), event, state) == "now":
            self._to(event.player, Item(position, event), concerned)
        for player, item in self._disclosures.after(event, position, state, self.sealed):
            self._to(player, item, concerned)
        staff = self._staff.see(event, position, state, _NOTHING)
        self.operations.extend(Item(shown.position, shown.event) for shown in staff)
        if not state.ruleset.shared:
            public = self._everyone.see(event, position, state, _NOTHING)
            self.public.extend(Item(shown.position, shown.event) for shown in public)
        elif not isinstance(event, _OF_PLAYERS):
            shown_event = thinned(redacted(Public(), event))
            self.public.append(Item(position, shown_event, crowd=crowd_of(event, state)))
        return concerned

    def _fold(self, event: e.RoundEvent) -> RoundState:
        if self._state is None:
            if not isinstance(event, e.RoundOpened):
                raise ValueError(f"{self.stream} does not begin with RoundOpened")
            self._state = new_round(shipped(event.ruleset))
        state = self._state
        before = (state.step, state.window, None if state.window is None else state.window.closes_at)
        evolve(state, event)
        self.position += 1
        if before != (state.step, state.window, None if state.window is None else state.window.closes_at):
            self.turns += 1
        elif isinstance(event, e.BetPlaced | e.BetWithdrawn) and not state.ruleset.shared:
            self.turns += 1  # a box was taken, or is free again
        if isinstance(event, e.CardScanned | e.CardRescanned) and event.commitment is not None:
            self._laid_at[event.commitment] = self.position
        return state

    def _to(self, player: str, item: Item, concerned: set[str]) -> None:
        self.own.setdefault(player, []).append(item)
        concerned.add(player)


def round_event(content: bytes) -> e.RoundEvent:
    """The event of a content of a round's stream. The log is trusted: it checked what was appended."""
    members = json.loads(content)
    return event_of(members["type"], members["version"], members["payload"])
