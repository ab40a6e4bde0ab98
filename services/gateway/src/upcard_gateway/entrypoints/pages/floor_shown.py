"""What the pages of the floor have alike: who may look and who may act, tables, names, addresses."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Annotated

from fastapi import FastAPI
from starlette.requests import Request

from upcard_gateway.adapters.flooring import Flooring
from upcard_gateway.adapters.postgres.significant import staff_names
from upcard_gateway.app.boards_text import amount_text
from upcard_gateway.app.significant import is_round_name, is_table_name
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, needs

__all__ = [
    "Acting",
    "Looking",
    "Names",
    "Texts",
    "checked_round",
    "checked_table",
    "clock",
    "flooring_of",
    "may_act",
    "may_decide",
    "money",
    "names_of",
    "now_ms",
    "prepare_floor",
]

Looking = Annotated[Member, needs("shift_manager", "operations", "support", "auditor", "admin")]
"""Who may look at tables, rounds and players."""
Acting = Annotated[Member, needs("shift_manager", "operations", "admin")]
"""Who may do something with tables."""


def prepare_floor(app: FastAPI, edge: Edge) -> None:
    """Make what all pages of the floor read tables with."""
    app.state.floor = Flooring(edge.services, edge.pool, edge.settings.floor_fresh_s)


def flooring_of(request: Request) -> Flooring:
    """What tables are read with."""
    found: Flooring = request.app.state.floor
    return found


def may_act(member: Member) -> bool:
    """Whether a member may do something with tables."""
    return member.has("shift_manager", "operations", "admin")


def may_decide(member: Member) -> bool:
    """Whether a member may decide what another person has proposed."""
    return member.has("operations", "admin")


class Texts(dict[str, str]):
    """A form's texts as templates read them: what is not there is empty."""

    def __missing__(self, key: str) -> str:
        return ""


class Names:
    """What people call each other: names of staff by their ids, and players' dealers by theirs."""

    def __init__(self, staff: dict[str, str], dealers: dict[str, str]) -> None:
        self._staff = staff
        self._dealers = dealers

    def __call__(self, who: str | None) -> str:
        """The name of `staff:<id>`, `dealer:<id>` or a bare id; what has none is shown as it is."""
        if not who:
            return ""
        bare = who.rpartition(":")[2]
        return self._staff.get(bare) or self._dealers.get(bare) or bare


async def names_of(request: Request, whom: Iterable[str | None]) -> Names:
    """The names of these people."""
    edge = edge_of(request)
    ids = sorted({who.rpartition(":")[2] for who in whom if who})
    known: dict[str, str] = {}
    if ids:
        async with edge.pool.acquire() as connection:
            known = await staff_names(connection, ids)
    return Names(known, edge.settings.dealer_names)


def checked_table(table: str) -> str:
    """A table's id. Raises PageProblem: nothing can be called so."""
    if not is_table_name(table):
        raise PageProblem(404, "frame.not_found")
    return table


def checked_round(name: str) -> str:
    """A round's name. Raises PageProblem: nothing can be called so."""
    if not is_round_name(name):
        raise PageProblem(404, "frame.not_found")
    return name


def money(amount: int, currency: str | None) -> str:
    """Money as people read it; without a currency, minor units."""
    return amount_text(amount, currency) if currency else str(amount)


def clock(moment: dt.datetime | None) -> str:
    """The time of day, UTC."""
    return "" if moment is None else moment.astimezone(dt.UTC).strftime("%H:%M:%S")


def now_ms(request: Request) -> int:
    """The server's clock, in milliseconds since 1970: what a page's windows are counted down by."""
    return int(edge_of(request).now().timestamp() * 1_000)
