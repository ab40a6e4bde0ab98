"""A round as one viewer may see it, from its events alone (docs/views.md).

History has no sealed cards: it knows a face-down card when its opening is in the log. So while a round is
open, a player sees here what everybody sees, and the own events; once it has ended, everything that the
player saw then is shown where it was seen. What a running round shows to its player alone is the table
service's to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from eventstore.port import Reader
from rules_core.cards import CARD_OF
from rules_core.log.content import Content, parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of, payload_of
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.views.events import Shown, Watch, redacted, visible_to
from rules_core.views.table import TableView, table_view
from rules_core.views.viewers import Operations, Player, Public, Viewer
from upcard_history.app.reading import RulesetUnknown, TimelineEntry
from upcard_history.domain.instants import instant

_PAGE = 500
_OPENINGS = frozenset({"DealerRevealed", "CardsRevealed"})
_ENDS = frozenset({"RoundSettled", "RoundCancelled"})
_CLOSING = (e.BettingClosed, e.OptionsClosed, e.FinalOptionsClosed, e.PurchaseClosed, e.RoundCancelled)


@dataclass(frozen=True, slots=True)
class Known:
    """What the log knows of a round up to a position: its cards' openings, and whether it has ended."""

    position: int
    sealed: Sealed
    ended: bool


async def known_of(reader: Reader, round_name: str) -> Known:
    """Look through a round for its openings; position 0: there is no such round."""
    sealed, position, ended = Sealed(), 0, False
    async for recorded in reader.iterate_stream(_stream(round_name), page=_PAGE):
        position = recorded.stream_position
        ended = ended or recorded.type in _ENDS
        if recorded.type not in _OPENINGS:
            continue
        event = _event(parse_content(recorded.content))
        if isinstance(event, e.DealerRevealed | e.CardsRevealed):
            for opening in event.openings:
                if opening.salt is not None:
                    sealed.add(CARD_OF[opening.card], opening.salt)
    return Known(position, sealed, ended)


async def view_of(reader: Reader, round_name: str, viewer: Viewer) -> tuple[TableView, int] | None:
    """The table as the viewer sees it at the round's end, or now, and the position that it is of.

    None where the round is not known. Raises RulesetUnknown.
    """
    known = await known_of(reader, round_name)
    if not known.position:
        return None
    state = None
    async for content in _contents(reader, round_name, known.position):
        event = _event(content)
        state = evolve(_begun(event) if state is None else state, event)
    if state is None:
        return None
    if isinstance(viewer, Player) and not known.ended:
        viewer = Public()
    return table_view(viewer, state, known.sealed), known.position


async def timeline_of(reader: Reader, round_name: str, viewer: Viewer) -> AsyncIterator[TimelineEntry]:
    """What the viewer sees of the events, in the order in which it is shown. Raises RulesetUnknown."""
    known = await known_of(reader, round_name)
    watch: Watch | _Onlooker = Watch(viewer)
    if isinstance(viewer, Player) and not known.ended:
        watch = _Onlooker(viewer)
    told: dict[int, tuple[str, str]] = {}
    state: RoundState | None = None
    position = 0
    async for content in _contents(reader, round_name, known.position):
        position += 1
        event = _event(content)
        state = evolve(_begun(event) if state is None else state, event)
        told[position] = (content.recorded_at, content.actor)
        for one in watch.see(event, position, state, known.sealed):
            yield _entry(one, *told.pop(one.position), operations=isinstance(viewer, Operations))
        if visible_to(viewer, event, state) == "never":
            del told[position]


class _Onlooker:
    """A `Watch` that shows no private cards, for a player of a round whose cards are not open yet."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._waiting: list[Shown] = []

    def see(
        self,
        event: e.RoundEvent,
        position: int,
        state: RoundState,
        sealed: Sealed,  # noqa: ARG002 - as `Watch` has it
    ) -> tuple[Shown, ...]:
        """See `Watch`."""
        visibility = visible_to(self._viewer, event, state)
        if visibility == "never":
            return ()
        number = state.opened.number if state.opened is not None else 0
        shown = Shown(number, position, redacted(self._viewer, event))
        if visibility == "at_close":
            self._waiting.append(shown)
            return ()
        if not isinstance(event, _CLOSING):
            return (shown,)
        waited, self._waiting = self._waiting, []
        return (*waited, shown)


def _stream(round_name: str) -> str:
    return f"round-{round_name}"


def _event(content: Content) -> e.RoundEvent:
    return event_of(content.type, content.version, content.payload)


def _begun(event: e.RoundEvent) -> RoundState:
    name = event.ruleset if isinstance(event, e.RoundOpened) else "?"
    if name not in shipped_ids():
        raise RulesetUnknown(f"ruleset {name} is not known here")
    return new_round(shipped(name))


async def _contents(reader: Reader, round_name: str, through: int) -> AsyncIterator[Content]:
    left = through
    async for page in reader.iterate_contents(_stream(round_name), page=_PAGE):
        for data in page[:left]:
            yield parse_content(data)
        left -= len(page)
        if left <= 0:
            return


def _entry(shown: Shown, recorded_at: str, actor: str, *, operations: bool) -> TimelineEntry:
    return TimelineEntry(
        shown.position,
        instant(recorded_at),
        type(shown.event).__name__,
        payload_of(shown.event),
        actor if operations else None,
        {private.place: private.card for private in shown.cards},
    )
