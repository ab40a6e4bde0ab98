"""Pages: how a table is played.

A table is opened, or its configuration changed, in two steps: the form, and what would change, which is
confirmed with a reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rules_core.rulesets.shipped import shipped_ids
from upcard_gateway.adapters.floor_acts import Refused, change_limits, open_table
from upcard_gateway.app.floor_config import MOST_CURRENCIES, Config, changes, fields_of, parsed
from upcard_gateway.app.floor_tables import FloorRow
from upcard_gateway.app.significant import is_table_name
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.floor_shown import Acting, Texts, checked_table, flooring_of
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, form_of, page

router = APIRouter(include_in_schema=False)

_UNPROCESSABLE: Final = 422
_CONFLICT: Final = 409
_SEE_OTHER: Final = 303
_OWN_FIELDS: Final = frozenset({"csrf", "request_id", "step", "reason", "base", "table"})

SHOWN_FIELDS: Final = (
    "chip",
    "chips",
    "ante",
    "bonus_player",
    "bonus_dealer",
    "insurance_max",
    "max_payout",
    "player_total_max",
    "boxes",
)
"""What of a currency's limits the page of a table shows, in this order."""
TIMES: Final = (
    "betting_ms",
    "options_ms",
    "final_options_ms",
    "purchase_ms",
    "extension_max_ms",
    "confirm_cards_ms",
    "close_drain_ms",
    "default_hold_ms",
)
_USUAL: Final[Config] = {
    "name": "",
    "ruleset": "live-shared@1",
    "limits": [{"currency": "EUR", "chip": 100, "ante": {"min": 100, "max": 50_000}}],
    "chips": [
        {"currency": "EUR", "values": [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]}
    ],
    "durations": {
        "betting_ms": 20_000,
        "options_ms": 20_000,
        "final_options_ms": 20_000,
        "purchase_ms": 15_000,
        "extension_max_ms": 60_000,
    },
    "confirm_cards_ms": 3_000,
}
"""What the form of a new table begins with."""


def shown_config(config: Config) -> dict[str, Any]:
    """A configuration as the page of a table shows it: texts by the names of the form's fields."""
    fields = fields_of(config) if config else {}
    numbers = [number for number in range(MOST_CURRENCIES) if f"c{number}.currency" in fields]
    limits = []
    for number in numbers:
        prefix = f"c{number}."
        one = {"currency": fields[f"{prefix}currency"]}
        for name in SHOWN_FIELDS:
            if f"{prefix}{name}.min" in fields:
                low, high = fields[f"{prefix}{name}.min"], fields[f"{prefix}{name}.max"]
                one[name] = f"{low} - {high}" if low or high else ""
            else:
                one[name] = fields.get(f"{prefix}{name}", "")
        limits.append(one)
    return {
        "limits": limits,
        "times": [(name, fields.get(name, "")) for name in TIMES],
        "fields": Texts(fields),
    }


@router.get("/staff/floor/open")
async def new_table(request: Request, member: Acting) -> Response:
    """The form of a new table; `from`: as that table is."""
    like = request.query_params.get("from", "")
    row = await flooring_of(request).row(like) if is_table_name(like) else None
    again = row if row is not None and not row.open else None
    config = _USUAL if row is None or not row.config else row.config
    fields = fields_of(config)
    if row is not None and again is None:
        fields["name"] = ""
    fields["table"] = again.table if again is not None else ""
    return _form(request, member, None, fields, [])


@router.post("/staff/floor/open")
async def open_it(request: Request, member: Acting) -> Response:
    """Shows what would be opened, and then opens it."""
    form = await form_of(request, member)
    found = parsed(form)
    wrong = [(one.field, one.kind) for one in found.errors]
    table = form.get("table", "")
    if not is_table_name(table):
        wrong.insert(0, ("table", "table_id"))
    row = await flooring_of(request).row(table) if is_table_name(table) else None
    if row is not None and row.open:
        wrong.insert(0, ("table", "table_is_open"))
    if wrong or form.get("step") == "back":
        return _form(request, member, None, form, wrong)
    before = row.config if row is not None else {}
    if form.get("step") != "confirm":
        return _preview(request, member, None, form, before, found.config, table)
    return await _done(request, member, form, None, before, found.config, table)


@router.get("/staff/floor/tables/{table}/limits")
async def limits(request: Request, member: Acting, table: str) -> Response:
    """The form of a table's configuration."""
    row = await _open_row(request, table)
    return _form(request, member, row, {**fields_of(row.config), "base": _base(row.config)}, [])


@router.post("/staff/floor/tables/{table}/limits")
async def change(request: Request, member: Acting, table: str) -> Response:
    """Shows what would change, and then changes it."""
    row = await _open_row(request, table)
    form = await form_of(request, member)
    found = parsed(form)
    wrong = [(one.field, one.kind) for one in found.errors]
    if not wrong and not changes(row.config, found.config):
        wrong.append(("", "nothing_changed"))
    if wrong or form.get("step") == "back":
        return _form(request, member, row, form, wrong)
    if form.get("base") != _base(row.config):
        # Somebody else has changed it meanwhile: what would change now is shown, to be confirmed anew.
        newer = {**form, "base": _base(row.config)}
        return _preview(
            request, member, row, newer, row.config, found.config, table, status=_CONFLICT, meanwhile=True
        )
    if form.get("step") != "confirm":
        return _preview(request, member, row, form, row.config, found.config, table)
    return await _done(request, member, form, row, row.config, found.config, table)


async def _done(  # noqa: PLR0913, PLR0917 - of which table, from what to what, by whom
    request: Request,
    member: Member,
    form: Mapping[str, str],
    row: FloorRow | None,
    before: Config,
    config: Config,
    table: str,
) -> Response:
    edge = edge_of(request)
    try:
        reason = checked_reason(dict(form))
    except PageProblem as problem:
        wrong = [("reason", problem.code)]
        return _preview(request, member, row, form, before, config, table, status=problem.status, wrong=wrong)
    call, action = (open_table, "floor.open") if row is None else (change_limits, "floor.limits")

    async def work() -> Any:  # noqa: ANN401 - Done or Refused
        return await call(edge.services, member.actor(), table, form["request_id"], config)

    result = await acted(
        edge,
        member,
        action=action,
        subject=table,
        reason=reason,
        request_id=form.get("request_id", ""),
        work=work,
        told=lambda found: f"refused: {found.reason}" if isinstance(found, Refused) else "done",
    )
    if isinstance(result, Refused):
        return _form(request, member, row, form, [], refused=result)
    done = "opened" if row is None else "limits"
    return RedirectResponse(f"/staff/floor/tables/{table}?done={done}", _SEE_OTHER)


def _form(
    request: Request,
    member: Member,
    row: FloorRow | None,
    fields: Mapping[str, str],
    wrong: list[tuple[str, str]],
    *,
    refused: Refused | None = None,
) -> Response:
    there = [number for number in range(MOST_CURRENCIES) if fields.get(f"c{number}.currency")]
    shown = range(min(MOST_CURRENCIES, (max(there) if there else -1) + 2))
    return page(
        request,
        member,
        "floor/config.html",
        status=_UNPROCESSABLE if wrong or refused else 200,
        row=row,
        fields=Texts(fields),
        wrong=wrong,
        refused=refused,
        numbers=shown,
        times=TIMES,
        rulesets=shipped_ids(),
    )


def _preview(  # noqa: PLR0913, PLR0917 - what would change
    request: Request,
    member: Member,
    row: FloorRow | None,
    form: Mapping[str, str],
    before: Config,
    config: Config,
    table: str,
    *,
    status: int = 200,
    meanwhile: bool = False,
    wrong: list[tuple[str, str]] | None = None,
) -> Response:
    kept = {name: value for name, value in form.items() if name not in _OWN_FIELDS}
    return page(
        request,
        member,
        "floor/config_confirm.html",
        status=status,
        row=row,
        table=table,
        kept=kept,
        base=form.get("base", ""),
        changes=changes(before, config),
        meanwhile=meanwhile,
        wrong=wrong or [],
        reason=form.get("reason", ""),
    )


async def _open_row(request: Request, table: str) -> FloorRow:
    row = await flooring_of(request).row(checked_table(table))
    if row is None:
        raise PageProblem(404, "floor.table_unknown", table=table)
    if not row.open:
        raise PageProblem(_CONFLICT, "floor.table_is_closed", table=table)
    return row


def _base(config: Config) -> str:
    """Which configuration a form began with."""
    return hashlib.sha256(json.dumps(dict(config), sort_keys=True).encode()).hexdigest()[:16]
