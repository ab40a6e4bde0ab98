"""Calls with JSON by which a table is dealt: those of the console's own pages, and of a studio's software.

Same sign-in and roles as the pages. What changes something carries the header `Upcard-Csrf` and a
`request_id`: the same again is done once (docs/dealer.md).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

import structlog
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from upcard_gateway.adapters.dealing import ActForbidden, GrpcDealing, RequestReused, TableAway
from upcard_gateway.app.dealer_acts import (
    ACTS,
    Act,
    ActDone,
    ActName,
    ActOutcome,
    ActRefused,
    ActWrong,
    card_typed,
)
from upcard_gateway.app.dealer_desk import DeskNow, next_step
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, check_csrf, needs

__all__ = ["Dealing", "dealing_of", "desk_of", "router"]

router = APIRouter(include_in_schema=False)

Dealing = Annotated[Member, needs("dealer")]
TableId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_COME_AGAIN_S: Final = 1.0

_log = structlog.get_logger("upcard.gateway.dealer")


class ActBody(BaseModel):
    """What is said with an act; which fields an act takes, docs/dealer.md says. Cards are never logged."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    request_id: str = Field(min_length=8, max_length=64)
    round: int = Field(default=0, ge=0, lt=2**53)
    deck: str = Field(default="", max_length=64)
    reason: str = Field(default="", max_length=64)
    place: str = Field(default="", max_length=32)
    card: str = Field(default="", max_length=8, repr=False)
    cards: dict[str, str] = Field(default_factory=dict, max_length=52, repr=False)
    shift: str = Field(default="", max_length=64)


class ActAnswer(BaseModel):
    """What became of an act."""

    result: Literal["done", "refused"]
    round: int = 0
    position: int = 0
    reason: str = ""
    text: str = ""
    """What a person is told."""
    data: dict[str, str] = Field(default_factory=dict)


@router.get("/staff/api/dealer/tables")
async def tables(request: Request, member: Dealing) -> dict[str, Any]:
    """All tables, by id, as they were a moment ago; `mine`: where this dealer is signed in."""
    try:
        found = await dealing_of(edge_of(request)).tables()
    except TableAway:
        raise _away() from None
    return {"tables": [{**asdict(one), "mine": one.dealer == member.staff} for one in found]}


@router.get("/staff/api/dealer/tables/{table}")
async def table_now(request: Request, table: TableId, member: Dealing) -> dict[str, Any]:
    """A table as its dealer sees it, and what is to be done next."""
    now = await desk_of(edge_of(request), member, table)
    return {
        "table": asdict(now.table),
        "round": None if now.round is None else asdict(now.round),
        "at": now.at,
        "next": asdict(next_step(now, member.staff)),
    }


@router.post("/staff/api/dealer/tables/{table}/{act}")
async def do(request: Request, table: TableId, act: str, body: ActBody, member: Dealing) -> ActAnswer:
    """Do one act at a table, once."""
    check_csrf(request)
    wanted = _act(table, act, body)
    by_floor = ACTS[wanted.name].by_floor
    if by_floor and not member.has("shift_manager", "operations", "admin"):
        raise PageProblem(403, "dealer.problem.role_missing")
    edge = edge_of(request)

    async def work() -> ActOutcome:
        return await dealing_of(edge).act(member.actor() if by_floor else member.dealer(), wanted)

    try:
        outcome = await acted(
            edge,
            member,
            action=f"table.{wanted.name}",
            subject=f"{table}.{wanted.round}" if wanted.round else table,
            reason=wanted.reason or wanted.deck,
            request_id=wanted.request_id,
            work=work,
            told=_told,
        )
    except TableAway:
        raise _away() from None
    except RequestReused:
        raise PageProblem(409, "dealer.problem.request_reused") from None
    except ActForbidden:
        raise PageProblem(403, "dealer.problem.role_missing") from None
    return _answer(request, outcome)


def dealing_of(edge: Edge) -> GrpcDealing:
    """The way to the tables."""
    return GrpcDealing(edge.services, edge.now)


async def desk_of(edge: Edge, member: Member, table: str) -> DeskNow:
    """A table as this dealer sees it. Raises PageProblem: there is no such table, or nobody answers."""
    try:
        now = await dealing_of(edge).desk(member.dealer(), table)
    except TableAway as away:
        _log.warning("a table cannot be looked at", table=table, why=str(away))
        raise _away() from None
    if now is None:
        raise PageProblem(404, "dealer.problem.table_unknown")
    return now


def _act(table: str, name: str, body: ActBody) -> Act:
    """Raises PageProblem for what cannot be meant."""
    known: ActName | None = next((one for one in ACTS if one == name), None)
    if known is None:
        raise PageProblem(404, "dealer.problem.act_unknown")
    try:
        return Act(
            known,
            table,
            body.request_id,
            round=body.round,
            deck=body.deck,
            reason=body.reason,
            place=body.place,
            card=card_typed(body.card),
            cards=tuple((place, card_typed(card)) for place, card in body.cards.items()),
            shift=body.shift,
        )
    except ActWrong as wrong:
        raise PageProblem(422, "dealer.problem.act_wrong", field=wrong.field, wrong=wrong.wrong) from None


def _told(outcome: ActOutcome) -> str:
    """The outcome as the log of staff's actions has it."""
    return "done" if isinstance(outcome, ActDone) else f"refused: {outcome.reason}"


def _answer(request: Request, outcome: ActOutcome) -> ActAnswer:
    match outcome:
        case ActDone():
            return ActAnswer(result="done", round=outcome.round, position=outcome.position)
        case ActRefused():
            english = request.app.state.pages.english
            key = f"dealer.refused.{outcome.reason}"
            place = _place_in_words(english, outcome.data.get("place", ""))
            text = english(key, place=place) if english.has(key) else outcome.message
            return ActAnswer(result="refused", reason=outcome.reason, text=text, data=dict(outcome.data))


def _place_in_words(english: English, place: str) -> str:
    """`box.2.0` as people say it; as it is, where it is none that is known."""
    kind, *numbers = place.split(".")
    if not numbers or not english.has(f"dealer.place.{kind}"):
        return place
    return english(f"dealer.place.{kind}", number=numbers[0], card=int(numbers[-1]) + 1)


def _away() -> PageProblem:
    return PageProblem(503, "dealer.problem.table_away", retry_after_s=_COME_AGAIN_S)
