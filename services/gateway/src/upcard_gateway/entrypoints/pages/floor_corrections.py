"""Pages: corrections of settled rounds. One person proposes, having seen the effect; another one decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rules_core.round import events as e
from rules_core.round.decide.correction_rules import RESETTLE_REASONS
from rules_core.round.refusal import Refusal
from upcard_gateway.adapters.floor_acts import Done, Refused, decide_correction, propose_correction
from upcard_gateway.adapters.floor_rounds import bundle
from upcard_gateway.adapters.postgres import floor_corrections as kept
from upcard_gateway.adapters.postgres.two_people import enrolled_after
from upcard_gateway.app.floor_effect import Effect, NotDecided, RoundPlayed, effect_of, played_of
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.floor_shown import (
    Looking,
    Texts,
    checked_round,
    clock,
    may_decide,
    money,
    names_of,
)
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, form_of, needs, page

router = APIRouter(include_in_schema=False)

Proposing = Annotated[Member, needs("shift_manager", "operations", "support", "admin")]
"""Who may propose a correction."""
Deciding = Annotated[Member, needs("operations", "admin")]
"""Who may decide another person's proposal."""

_SEE_OTHER: Final = 303
_UNPROCESSABLE: Final = 422
_CONFLICT: Final = 409
_MOST: Final = 100
_MOST_BOXES: Final = 200
_OPTIONS: Final = ("bet", "sixth", "exchange", "fold", "none")
_FINALS: Final = ("bet", "fold")
_is_card: Final = re.compile(r"[2-9TJQKA][cdhs]").fullmatch
_is_positions: Final = re.compile(r"[0-4](\s*,\s*[0-4])*").fullmatch
_is_amount: Final = re.compile(r"[0-9]{1,15}").fullmatch


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a form asks for."""

    reason: str
    refund: bool
    cards: tuple[e.CardCorrection, ...]
    choices: tuple[e.ChoiceCorrection, ...]

    def plain(self) -> dict[str, Any]:
        """As it is kept and sent."""
        return {
            "reason": self.reason,
            "refund": self.refund,
            "cards": [{"place": one.place, "card": one.card} for one in self.cards],
            "choices": [
                {
                    "box": one.box,
                    "player": one.player,
                    "option": one.option,
                    "positions": list(one.positions),
                    "final": one.final,
                    "insurance": one.insurance,
                    "purchase": one.purchase,
                }
                for one in self.choices
            ],
        }


class _Wrong(Exception):
    """A field that cannot be read; `kind` is the last part of its sentence's key."""

    def __init__(self, field: str, kind: str) -> None:
        super().__init__(f"{field}: {kind}")
        self.field = field
        self.kind = kind


@router.get("/staff/floor/corrections")
async def corrections(request: Request, member: Looking) -> Response:
    """All corrections that were asked for: those first that wait for somebody."""
    edge = edge_of(request)
    async with edge.pool.acquire() as connection:
        found = await kept.listed(connection, None, _MOST)
    return page(
        request,
        member,
        "floor/corrections.html",
        found=found,
        names=await names_of(request, [who for one in found for who in (one.proposer, one.decided_by)]),
        me=f"staff:{member.staff}",
        may_decide=may_decide(member),
        clock=clock,
        refused=request.query_params.get("refused", "")[:64],
        done=request.query_params.get("done", "")[:40],
    )


@router.get("/staff/floor/rounds/{name}/correct")
async def ask(request: Request, member: Proposing, name: str) -> Response:
    """The form of a correction."""
    played = await _played(request, member, name)
    return _form(request, member, name, played, {}, [])


@router.post("/staff/floor/rounds/{name}/correct")
async def propose(request: Request, member: Proposing, name: str) -> Response:
    """Shows what a correction would change, and then proposes it."""
    played = await _played(request, member, name)
    form = await form_of(request, member)
    try:
        asked = _read(form, played)
    except _Wrong as wrong:
        return _form(request, member, name, played, form, [(wrong.field, wrong.kind)])
    effect = effect_of(
        played,
        f"staff:{member.staff}",
        asked.reason,
        refund=asked.refund,
        cards=asked.cards,
        choices=asked.choices,
    )
    if isinstance(effect, Refusal):
        return _form(request, member, name, played, form, [], refused=effect)
    if form.get("step") != "confirm":
        return _form(request, member, name, played, form, [], effect=effect)
    try:
        why = checked_reason(form)
    except PageProblem as problem:
        return _form(request, member, name, played, form, [("reason", problem.code)], effect=effect)
    result = await _proposed(request, member, name, form.get("request_id", ""), why, asked.plain())
    if isinstance(result, Refused):
        return _form(request, member, name, played, form, [], refused=result)
    return RedirectResponse("/staff/floor/corrections?done=proposed", _SEE_OTHER)


@router.post("/staff/floor/corrections/{request_id}/again")
async def again(request: Request, member: Proposing, request_id: str) -> Response:
    """Ask the table service once more for what was interrupted: by whoever asked for it."""
    edge = edge_of(request)
    await form_of(request, member)
    async with edge.pool.acquire() as connection:
        found = await kept.find(connection, request_id)
    if found is None or found.proposer != f"staff:{member.staff}":
        raise PageProblem(404, "floor.correction_unknown")
    result = await _proposed(request, member, found.round, request_id, found.why, found.correction)
    refused = f"&refused={result.reason}" if isinstance(result, Refused) else ""
    return RedirectResponse(f"/staff/floor/corrections?done=proposed{refused}", _SEE_OTHER)


@router.post("/staff/floor/corrections/{request_id}/decide")
async def decide(request: Request, member: Deciding, request_id: str) -> Response:
    """Approve another person's proposal, which corrects the round; or reject it.

    The form names the proposal that its page showed: a word on another one is not taken.
    """
    edge = edge_of(request)
    form = await form_of(request, member)
    why = checked_reason(form)
    approve = form.get("approve") == "yes"
    async with edge.pool.acquire() as connection:
        found = await kept.find(connection, request_id)
    if found is None or not found.resettlement:
        raise PageProblem(404, "floor.correction_unknown")
    if form.get("resettlement", "") != found.resettlement:
        raise PageProblem(_CONFLICT, "floor.refused.other_proposal")
    if found.proposer == f"staff:{member.staff}" and approve:
        raise PageProblem(_CONFLICT, "floor.refused.two_people_needed")
    if approve:
        async with edge.pool.acquire() as connection:
            if await enrolled_after(connection, member.staff, found.asked_at):
                raise PageProblem(_CONFLICT, "floor.refused.enrolled_later")

    async def work() -> Done | Refused:
        return await decide_correction(
            edge.services,
            member.actor(),
            form["request_id"],
            found.table,
            found.resettlement,
            approve=approve,
        )

    result = await acted(
        edge,
        member,
        action="floor.approve-correction" if approve else "floor.reject-correction",
        subject=found.round,
        reason=why,
        request_id=form.get("request_id", ""),
        work=work,
        told=lambda one: f"refused: {one.reason}" if isinstance(one, Refused) else "done",
    )
    if isinstance(result, Refused):
        if result.reason == "resettlement_decided":
            await _learn(request, found, result)
        return RedirectResponse(f"/staff/floor/corrections?refused={result.reason}", _SEE_OTHER)
    state = "approved" if approve else "rejected"
    async with edge.pool.acquire() as connection:
        await kept.note(
            connection,
            request_id,
            state,
            resettlement=found.resettlement,
            decided_by=result.decided_by or f"staff:{member.staff}",
            at=edge.now(),
        )
    return RedirectResponse(f"/staff/floor/corrections?done={state}", _SEE_OTHER)


async def _learn(request: Request, found: kept.Correction, told: Refused) -> None:
    """It was decided, and this gateway did not hear of it: the refusal says how and by whom.

    One that is still being carried out, or of which nothing is said, stays as it is.
    """
    edge, state = edge_of(request), told.data.get("state", "")
    if state not in {"approved", "rejected"}:
        return
    async with edge.pool.acquire() as connection:
        await kept.note(
            connection,
            found.request_id,
            state,
            resettlement=found.resettlement,
            decided_by=told.data.get("decided_by") or None,
            at=edge.now(),
        )


async def _proposed(
    request: Request, member: Member, name: str, request_id: str, why: str, correction: Mapping[str, Any]
) -> Done | Refused:
    """Propose it, and note what became of it. The same again gives the answer that was given."""
    edge = edge_of(request)
    table, _, number = name.rpartition(".")

    async def work() -> Done | Refused:
        asked = kept.Correction(
            request_id,
            edge.now(),
            table,
            int(number),
            f"staff:{member.staff}",
            why,
            "asked",
            "",
            "",
            None,
            correction,
        )
        async with edge.pool.acquire() as connection:
            if not await kept.add(connection, asked):
                raise PageProblem(_CONFLICT, "frame.request_reused")
        answer = await propose_correction(edge.services, member.actor(), request_id, name, correction)
        refused = isinstance(answer, Refused)
        async with edge.pool.acquire() as connection:
            await kept.note(
                connection,
                request_id,
                "refused" if refused else "proposed",
                resettlement="" if isinstance(answer, Refused) else answer.resettlement,
            )
        return answer

    return await acted(
        edge,
        member,
        action="floor.propose-correction",
        subject=name,
        reason=why,
        request_id=request_id,
        work=work,
        told=lambda one: f"refused: {one.reason}" if isinstance(one, Refused) else "done",
    )


async def _played(request: Request, member: Member, name: str) -> RoundPlayed:
    """A settled round. Raises PageProblem: there is none, or none that can be corrected here."""
    data = await bundle(edge_of(request).services, member.actor(), checked_round(name))
    if data is None:
        raise PageProblem(_CONFLICT, "floor.not_correctable", round=name)
    try:
        played = played_of(data)
    except NotDecided:
        raise PageProblem(_CONFLICT, "floor.not_correctable", round=name) from None
    if played.state.step != "settled":
        raise PageProblem(_CONFLICT, "floor.not_settled", round=name)
    return played


def _read(form: Mapping[str, str], played: RoundPlayed) -> _Asked:
    slug = form.get("slug", "")
    if slug not in RESETTLE_REASONS:
        raise _Wrong("slug", "choose_one")
    if form.get("refund") == "yes":
        return _Asked(slug, refund=True, cards=(), choices=())
    cards: list[e.CardCorrection] = []
    for place, now in played.cards:
        given = form.get(f"card.{place}", "")
        if given and given != now:
            if not _is_card(given):
                raise _Wrong(f"card.{place}", "card_form")
            cards.append(e.CardCorrection(place, given))
    choices = [one for one in (_choice(form, number, played) for number in range(len(played.boxes))) if one]
    return _Asked(slug, refund=False, cards=tuple(cards), choices=tuple(choices))


def _choice(form: Mapping[str, str], number: int, played: RoundPlayed) -> e.ChoiceCorrection | None:
    """What a row of the form says of a box; None: it stays as recorded."""
    box = played.boxes[number]
    said = {name: form.get(f"b{number}.{name}", "") for name in _CHOICES}
    if not any(said.values()):
        return None
    if said["option"] not in {"", *_OPTIONS} or said["final"] not in {"", *_FINALS}:
        raise _Wrong(f"b{number}.option", "choose_one")
    if said["positions"] and not _is_positions(said["positions"]):
        raise _Wrong(f"b{number}.positions", "positions_form")
    if said["insurance"] and not _is_amount(said["insurance"]):
        raise _Wrong(f"b{number}.insurance", "minor_units")
    option: Any = said["option"] or None
    final: Any = said["final"] or None
    return e.ChoiceCorrection(
        box.box,
        box.player,
        option,
        tuple(int(one) for one in said["positions"].replace(" ", "").split(",")) if said["positions"] else (),
        final,
        int(said["insurance"]) if said["insurance"] else None,
        None if not said["purchase"] else said["purchase"] == "yes",
    )


_CHOICES: Final = ("option", "positions", "final", "insurance", "purchase")


def _form(  # noqa: PLR0913 - what the form shows
    request: Request,
    member: Member,
    name: str,
    played: RoundPlayed,
    fields: Mapping[str, str],
    wrong: list[tuple[str, str]],
    *,
    refused: Refusal | Refused | None = None,
    effect: Effect | None = None,
) -> Response:
    slug = refused.code if isinstance(refused, Refusal) else refused.reason if refused else ""
    return page(
        request,
        member,
        "floor/correct.html",
        status=_UNPROCESSABLE if wrong or refused else 200,
        name=name,
        played=played,
        boxes=played.boxes[:_MOST_BOXES],
        fields=Texts(fields),
        wrong=wrong,
        refused=(slug, refused.message) if refused else None,
        effect=effect,
        slugs=RESETTLE_REASONS,
        options=_OPTIONS,
        finals=_FINALS,
        money=money,
    )
