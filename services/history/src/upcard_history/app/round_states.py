"""Rounds as they stand, kept for the next one who asks: of ten thousand players of a round many look at once.

A kept state is as good as a fresh one: it is of a position of the round's stream, and what came since is
folded on to it. So it holds no right and no viewer; what is shown of it is made for each viewer anew.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from eventstore.port import Reader
from rules_core.cards import CARD_OF
from rules_core.explain.played import SETTLED, explain_played
from rules_core.explain.sentence import Explanation
from rules_core.log.content import parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.views.table import TableView, table_view
from rules_core.views.viewers import Player, Public, Viewer
from upcard_history.app.reading import RoundNotEnded, RulesetUnknown

EVENTS_MAX: Final = 100_000
"""Most events of all kept rounds together, about 1 kB each. The round that is asked for is kept anyway."""

_PAGE: Final = 500


@dataclass(slots=True)
class _Kept:
    """A round up to a position. Between two events it is whole at every moment."""

    position: int = 0
    state: RoundState | None = None
    sealed: Sealed = field(default_factory=Sealed)
    """The openings so far."""
    ended: bool = False
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever folds: others wait for what comes of it."""

    def take(self, data: bytes) -> None:
        """Fold the next event. Raises RulesetUnknown."""
        content = parse_content(data)
        event = event_of(content.type, content.version, content.payload)
        if isinstance(event, e.DealerRevealed | e.CardsRevealed):
            for opening in event.openings:
                if opening.salt is not None:
                    self.sealed.add(CARD_OF[opening.card], opening.salt)
        self.state = evolve(_begun(event) if self.state is None else self.state, event)
        self.ended = self.ended or isinstance(event, e.RoundSettled | e.RoundCancelled)
        self.position += 1


class RoundStates:
    """Keeps the rounds that were asked for last."""

    def __init__(self, reader: Reader, *, events_max: int = EVENTS_MAX) -> None:
        self._reader = reader
        self._events_max = events_max
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    @property
    def rounds(self) -> tuple[str, ...]:
        """Which are kept, the one that was asked for last at the end."""
        return tuple(self._kept)

    async def view_of(self, round_name: str, viewer: Viewer) -> tuple[TableView, int] | None:
        """The table as the viewer sees it at the round's end, or now, and the position that it is of.

        While the round is open a player is shown what the public sees. None where the round is not known.
        Raises RulesetUnknown.
        """
        kept = await self._known(round_name)
        if kept.state is None:
            return None
        if isinstance(viewer, Player) and not kept.ended:
            viewer = Public()
        return table_view(viewer, kept.state, kept.sealed), kept.position

    async def explained(self, round_name: str, player: str | None) -> Mapping[str, Explanation] | None:
        """Why wagers of the player, or of all, ended as they did, by currency; nothing of a cancelled round.

        None where the round is not known. Raises RoundNotEnded, RulesetUnknown.
        """
        kept = await self._known(round_name)
        if kept.state is None:
            return None
        if kept.state.step == "cancelled":
            return {}
        if kept.state.step not in SETTLED:
            raise RoundNotEnded(f"round {round_name} is not settled: {kept.state.step}")
        return explain_played(kept.state, kept.state.order if player is None else [player])

    async def _known(self, round_name: str) -> _Kept:
        kept = self._kept.setdefault(round_name, _Kept())
        try:
            async with kept.alone:
                await self._fold(round_name, kept)
        finally:
            if kept.state is None and self._kept.get(round_name) is kept:
                del self._kept[round_name]
        if kept.state is not None:
            if round_name in self._kept:
                self._kept.move_to_end(round_name)
            self._forget()
        return kept

    async def _fold(self, round_name: str, kept: _Kept) -> None:
        stream = f"round-{round_name}"
        async for page in self._reader.iterate_contents(stream, after=kept.position, page=_PAGE):
            for data in page:
                kept.take(data)

    def _forget(self) -> None:
        events = sum(one.position for one in self._kept.values())
        while events > self._events_max and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            events -= gone.position


def _begun(event: e.RoundEvent) -> RoundState:
    name = event.ruleset if isinstance(event, e.RoundOpened) else "?"
    if name not in shipped_ids():
        raise RulesetUnknown(f"ruleset {name} is not known here")
    return new_round(shipped(name))
