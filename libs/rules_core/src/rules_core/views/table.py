"""Everything that a screen needs now, as plain JSON (RULES.md section 8; docs/views.md)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import assert_never

from rules_core.cards import card_text
from rules_core.round.actions import allowed_actions
from rules_core.round.commands import Placement
from rules_core.round.decide.correcting import apply_choices
from rules_core.round.decide.steps import awaits_confirmation
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, Step
from rules_core.views.boxes import box_objects, own_boxes
from rules_core.views.entitlement import known_to
from rules_core.views.hands import card_texts, dealer_object
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer, viewer_text

TableView = dict[str, object]

_STEPS: tuple[Step, ...] = (
    "new",
    "betting",
    "deal",
    "options",
    "replace",
    "final_options",
    "next",
    "revealed",
    "purchase",
    "draw",
    "decided",
    "settling",
    "settled",
    "resettling",
    "cancelled",
)
_LAST_STEP_SHARED: dict[str, Step] = {
    "betting": "betting",
    "options": "options",
    "final_options": "final_options",
    "purchase": "purchase",
}
"""The last step at which each window can be open or still to come."""
_LAST_STEP_EXCLUSIVE: dict[str, Step] = {**_LAST_STEP_SHARED, "options": "next", "final_options": "next"}


def table_view(
    viewer: Viewer,
    state: RoundState,
    sealed: Sealed,
    *,
    currency: str | None = None,
    previous: tuple[Placement, ...] = (),
) -> TableView:
    """What the viewer sees of the table now: texts, integers, booleans, null, lists and objects only.

    `currency` and `previous` are a player's, as in `allowed_actions`. `sealed` is asked for nothing but the
    cards that the viewer may see. Never log the view of a player: it may hold cards that nobody else sees.
    """
    known = known_to(viewer, state, sealed)
    corrected = apply_choices(state)
    view = _everyones(viewer, corrected, known)
    match viewer:
        case Player(player=player):
            view["own"] = _own(corrected, known, player)
            actions = allowed_actions(corrected, player, known, currency=currency, previous=previous)
            view["actions"] = plain(actions)
        case Dealer():
            view["desk"] = _desk(corrected)
        case Operations():
            view["desk"] = _desk(corrected)
            view["house"] = _house(corrected)
        case Public():
            pass
        case _:
            assert_never(viewer)
    return view


def _everyones(viewer: Viewer, state: RoundState, known: Sealed) -> TableView:
    opened = state.opened
    return {
        "viewer": viewer_text(viewer),
        "table": None if opened is None else opened.table,
        "round": None if opened is None else opened.number,
        "ruleset": state.ruleset.id,
        "step": state.step,
        "progress": _progress(state),
        "window": _window(state),
        "cards": card_texts(state, known),
        "burned": [None if card is None else card_text(card) for card in state.burned],
        "corrected": sorted(state.corrected_cards),
        "dealer": dealer_object(state, known),
        "boxes": box_objects(state, known),
    }


def _progress(state: RoundState) -> list[dict[str, object]]:
    """Each window of the round: `ahead`, `open` or `over`, over also where it was skipped."""
    last = _LAST_STEP_SHARED if state.ruleset.shared else _LAST_STEP_EXCLUSIVE
    now = _STEPS.index(state.step)
    progress: list[dict[str, object]] = []
    for name in ("betting", *state.ruleset.windows):
        status = "over" if now > _STEPS.index(last[name]) else "ahead"
        if state.window is not None and state.window.kind == name:
            status = "open"
        progress.append({"window": name, "status": status})
    return progress


def _window(state: RoundState) -> dict[str, object] | None:
    window = state.window
    if window is None:
        return None
    return {
        "kind": window.kind,
        "box": window.box,
        "closes_at": window.closes_at,
        "extended_ms": window.extended_ms,
    }


def _own(state: RoundState, known: Sealed, player: str) -> dict[str, object]:
    """The player's own boxes and sums. `total` counts every stake and fee of the round, minor units."""
    seat = state.seats.get(player)
    if seat is None:
        return {"currency": None, "total": 0, "boxes": [], "settled": None}
    settled = None
    if seat.revision:
        returned = sum(result.returned for result in seat.results)
        staked = sum(result.staked for result in seat.results)
        settled = {
            "revision": seat.revision,
            "staked": staked,
            "returned": returned,
            "net": returned - staked,
        }
    return {
        "currency": seat.currency,
        "total": sum(play.staked for play in seat.plays.values()),
        "boxes": own_boxes(state, known, seat),
        "settled": settled,
    }


def _desk(state: RoundState) -> dict[str, object]:
    """What the table waits for: undecided boxes as a number alone, the next card, the cards' confirmation."""
    return {
        "undecided": len(state.undecided),
        "awaited": state.awaited[0] if state.awaited else None,
        "to_lay": len(state.awaited),
        "confirm": awaits_confirmation(state),
    }


def _house(state: RoundState) -> dict[str, object]:
    """The round's figures for operations, minor units; sums of the players settled so far."""
    return {
        "players": len(state.seats),
        "declined": sum(state.declined.values()),
        "totals": [
            {"currency": currency, "players": players, "staked": staked, "returned": returned}
            for currency, (players, staked, returned) in sorted(state.totals.items())
        ],
    }


def plain(value: object) -> object:
    """A value of frozen dataclasses, tuples, texts and integers as plain JSON, defaults included."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value
