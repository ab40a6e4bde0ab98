"""The dealer's console: which table, and then that table alone, with what is to be done next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from rules_core.cards import RANKS, SUITS
from upcard_gateway.adapters.dealing import TableAway
from upcard_gateway.app.dealer_acts import CANCEL_REASONS, MANUAL_REASONS, RETIRE_REASONS
from upcard_gateway.app.dealer_desk import DeskNow, RoundFacts, next_step, places_to_name
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages import dealer_api
from upcard_gateway.entrypoints.pages.dealer_api import Dealing, TableId, dealing_of, desk_of
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, fragment, live, page

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
router.include_router(dealer_api.router)

LIVE_S: Final = 0.4
"""How often the console's regions are looked at, in seconds."""
LIST_S: Final = 2.0
_HAND: Final = 5
_DRAWN: Final = re.compile(r"draw\.\d+")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on the felt: empty, face down, or with a card."""

    place: str
    card: str
    """Rank and suit; `hidden`; empty: no card lies there."""
    awaited: bool
    correctable: bool
    """Whether the dealer may say which card really lies there: in manual mode, while it is not confirmed."""


@dataclass(frozen=True, slots=True)
class Row:
    """Places that belong together."""

    kind: str
    """`box`, `dealer`, `switch`, `replacement` or `draw`."""
    number: int
    slots: tuple[Slot, ...]
    hand: str | None = None
    blind: bool = False
    folded: bool = False
    turn: bool = False


@router.get("/staff/dealer")
async def choose(request: Request, member: Dealing) -> HTMLResponse:
    """Tables, those first where this dealer is signed in."""
    return page(request, member, "dealer/tables.html", **await _tables(request, member))


@router.get("/staff/dealer/live")
async def choose_live(request: Request, member: Dealing) -> Response:
    """The same, as it changes."""

    async def regions() -> dict[str, str]:
        found = await _tables(request, member)
        return {"dealer-tables": fragment(request, "dealer/table_list.html", **found)}

    return live(request, member, regions, LIST_S)


@router.get("/staff/dealer/{table}")
async def console(request: Request, table: TableId, member: Dealing) -> HTMLResponse:
    """One table's console."""
    now = await desk_of(edge_of(request), member, table)
    words: dict[str, Any] = {
        **_shown(now, member),
        "cancel_reasons": CANCEL_REASONS,
        "manual_reasons": MANUAL_REASONS,
        "retire_reasons": RETIRE_REASONS,
        "ranks": RANKS[::-1],
        "suits": SUITS[::-1],
        "floor": member.has("shift_manager", "operations", "admin"),
        "words": request.app.state.pages.english.part("dealer.script"),
    }
    return page(request, member, "dealer/console.html", **words)


@router.get("/staff/dealer/{table}/live")
async def console_live(request: Request, table: TableId, member: Dealing) -> Response:
    """The same, as it changes."""
    edge = edge_of(request)

    async def regions() -> dict[str, str]:
        shown = _shown(await desk_of(edge, member, table), member)
        return {
            f"dealer-{name}": fragment(request, f"dealer/{name}.html", **shown)
            for name in ("next", "felt", "side")
        }

    return live(request, member, regions, LIVE_S)


async def _tables(request: Request, member: Member) -> dict[str, Any]:
    try:
        found = await dealing_of(edge_of(request)).tables()
    except TableAway:
        raise PageProblem(503, "dealer.problem.table_away", retry_after_s=1.0) from None
    mine = [one for one in found if one.dealer == member.staff]
    return {
        "mine": mine,
        "free": [one for one in found if one.open and one.dealer is None],
        "taken": [one for one in found if one.open and one.dealer not in {None, member.staff}],
        "closed": [one for one in found if not one.open],
    }


def _shown(now: DeskNow, member: Member) -> dict[str, Any]:
    """What the templates of a console are given."""
    played = now.round
    return {
        "table": now.table,
        "played": played,
        "at": now.at,
        "next": next_step(now, member.staff),
        "mine": now.table.dealer == member.staff,
        "running": played is not None and not played.ended,
        "rows": () if played is None else _rows(now, played),
        "to_name": () if played is None else _grouped(places_to_name(played)),
    }


def _grouped(places: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """Places of one hand after each other: the hand, such as `box.1`, and its places."""
    hands: dict[str, list[str]] = {}
    for place in places:
        hands.setdefault(place.rpartition(".")[0], []).append(place)
    return list(hands.items())


def _rows(now: DeskNow, played: RoundFacts) -> tuple[Row, ...]:
    """The felt, from the far end to the dealer's own hand."""
    turn = None if played.window is None else played.window.box
    rows = [
        Row(
            "box",
            box.box,
            _slots(now, played, f"box.{box.box}"),
            box.hand,
            blind=box.blind,
            folded=box.folded,
            turn=box.box == turn,
        )
        for box in played.boxes
        if box.dealt or not played.cards
    ]
    for box in played.boxes:
        replaced = _slots(now, played, f"replacement.{box.box}", only_used=True)
        rows += [Row("replacement", box.box, replaced)] if replaced else []
    switch = _slots(now, played, "switch", only_used=True)
    rows += [Row("switch", 0, switch)] if switch else []
    rows.append(Row("dealer", 0, _slots(now, played, "dealer"), played.dealer_final or played.dealer_hand))
    draws = [place for place in (*played.cards, played.awaited or "") if _DRAWN.fullmatch(place)]
    if draws:
        rows.append(Row("draw", 0, tuple(_slot(now, played, place) for place in draws)))
    return tuple(rows)


def _slots(now: DeskNow, played: RoundFacts, prefix: str, *, only_used: bool = False) -> tuple[Slot, ...]:
    slots = tuple(_slot(now, played, f"{prefix}.{index}") for index in range(_HAND))
    if not only_used:
        return slots
    if prefix == "switch" and any(slot.card or slot.awaited for slot in slots):
        return slots
    return tuple(slot for slot in slots if slot.card or slot.awaited)


def _slot(now: DeskNow, played: RoundFacts, place: str) -> Slot:
    cards: Mapping[str, str] = played.cards
    card = cards.get(place, "")
    return Slot(
        place,
        card,
        awaited=place == played.awaited,
        correctable=now.table.manual_mode
        and played.step in {"deal", "replace", "draw"}
        and card not in {"", "hidden"},
    )
