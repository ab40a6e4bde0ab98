"""Pages: what the floor does with a table. Each is a form with a reason; what was refused says why."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rules_core.round.decide.ending import CANCEL_REASONS
from upcard_gateway.adapters.floor_acts import ACTS, Refused, act
from upcard_gateway.app.floor_tables import FloorRow
from upcard_gateway.app.significant import is_table_name
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.floor_shown import Acting, Texts, checked_table, flooring_of, names_of
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, form_of, page

router = APIRouter(include_in_schema=False)

_UNPROCESSABLE: Final = 422
_SEE_OTHER: Final = 303
_is_slug: Final = re.compile(r"[a-z][a-z0-9_]{0,62}").fullmatch
_is_seconds: Final = re.compile(r"[1-9][0-9]{0,3}").fullmatch
_is_number: Final = re.compile(r"[1-9][0-9]{0,15}").fullmatch
_is_card_line: Final = re.compile(r"[a-z]+(\.[0-9]+){1,2}\s+[2-9TJQKA][cdhs]").fullmatch

SLUGS: Final[Mapping[str, tuple[str, ...]]] = {
    "cancel": CANCEL_REASONS,
    "retire-deck": ("worn", "damaged", "card_missing", "marked", "end_of_use"),
    "manual-on": ("reader_broken", "reader_slow", "maintenance"),
}
"""Reasons that the table service wants as a word."""
_DECKS: Final = frozenset({"verify-deck", "shuffle-deck", "retire-deck"})
DANGEROUS: Final = frozenset({"cancel", "close", "retire-deck", "manual-on"})
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "start-shift": ("shift",),
    "introduce-deck": ("deck",),
    **dict.fromkeys(_DECKS, ("deck",)),
    "extend": ("seconds",),
}


@router.get("/staff/floor/tables/{table}/act/{name}")
async def ask(request: Request, member: Acting, table: str, name: str) -> Response:
    """The form of an action."""
    row = await _row(request, table, name)
    given = {key: value[:64] for key, value in request.query_params.items()}
    fields = {**_beginning(row, name), **given}
    return await _form(request, member, row, name, fields)


@router.post("/staff/floor/tables/{table}/act/{name}")
async def do(request: Request, member: Acting, table: str, name: str) -> Response:
    """Do it."""
    row = await _row(request, table, name)
    form = await form_of(request, member)
    wrong = _wrong(name, form)
    reason = ""
    try:
        reason = checked_reason(form)
    except PageProblem as problem:
        wrong["reason"] = problem.code
    if wrong:
        return await _form(request, member, row, name, form, wrong=wrong)
    edge = edge_of(request)
    is_round = name in {"cancel", "extend"}

    async def work() -> Any:  # noqa: ANN401 - Done or Refused
        return await act(edge.services, member.actor(), name, table, form["request_id"], form)

    result = await acted(
        edge,
        member,
        action=f"floor.{name}",
        subject=f"{table}.{form['round']}" if is_round else table,
        reason=reason,
        request_id=form.get("request_id", ""),
        work=work,
        told=lambda found: f"refused: {found.reason}" if isinstance(found, Refused) else "done",
    )
    if isinstance(result, Refused):
        return await _form(request, member, row, name, form, refused=result)
    return RedirectResponse(f"/staff/floor/tables/{table}?done={name}", _SEE_OTHER)


async def _row(request: Request, table: str, name: str) -> FloorRow:
    if name not in ACTS:
        raise PageProblem(404, "frame.not_found")
    row = await flooring_of(request).row(checked_table(table))
    if row is None:
        raise PageProblem(404, "floor.table_unknown", table=table)
    return row


def _beginning(row: FloorRow, name: str) -> dict[str, str]:
    """What the form has in it at first."""
    return {
        "round": str(row.round),
        "seconds": "20",
        "shift": f"shift-{secrets.token_hex(4)}" if name == "start-shift" else "",
        "deck": f"deck-{secrets.token_hex(4)}" if name == "introduce-deck" else "",
        "slug": "",
    }


def _wrong(name: str, form: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with the fields, by field: the last part of a sentence's key."""
    wrong: dict[str, str] = {}
    wanted = _FIELDS.get(name, ())
    for key in ("shift", "deck"):
        if key in wanted and not is_table_name(form.get(key, "")):
            wrong[key] = "not_an_id"
    if "seconds" in wanted and not _is_seconds(form.get("seconds", "")):
        wrong["seconds"] = "whole_seconds"
    if name in SLUGS and not _is_slug(form.get("slug", "")):
        wrong["slug"] = "choose_one"
    if name in {"cancel", "extend"} and not _is_number(form.get("round", "")):
        wrong["round"] = "round_number"
    lines = [line.strip() for line in form.get("cards", "").splitlines() if line.strip()]
    if name == "cancel" and not all(map(_is_card_line, lines)):
        wrong["cards"] = "card_lines"
    return wrong


async def _form(  # noqa: PLR0913 - what the form shows
    request: Request,
    member: Member,
    row: FloorRow,
    name: str,
    fields: Mapping[str, str],
    *,
    wrong: Mapping[str, str] | None = None,
    refused: Refused | None = None,
) -> Response:
    return page(
        request,
        member,
        "floor/act.html",
        status=_UNPROCESSABLE if wrong or refused else 200,
        row=row,
        name=name,
        fields=Texts(fields),
        wanted=_FIELDS.get(name, ()),
        slugs=SLUGS.get(name, ()),
        wrong=Texts(wrong or {}),
        refused=refused,
        dangerous=name in DANGEROUS,
        names=await names_of(request, [row.dealer]),
    )
