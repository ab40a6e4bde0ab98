"""Players' sessions: launched and followed by platforms."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final

import grpc.aio
import structlog
from fastapi import APIRouter, Query, Response

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.lifecycle import Service
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.adapters.postgres.sessions import PostgresSessions
from upcard_gateway.adapters.services import acting_as
from upcard_gateway.adapters.services import player as acting_player
from upcard_gateway.app.launch_tokens import hash_of
from upcard_gateway.app.lobby import sees
from upcard_gateway.app.people import Person, PlayerAccount
from upcard_gateway.app.sessions import SWEPT_MAX, Opening, SessionOver, SessionUnknown, new_id
from upcard_gateway.domain.sessions import Limits, Session
from upcard_gateway.entrypoints.http import erasing, launching
from upcard_gateway.entrypoints.http.edge import (
    Caller,
    Edge,
    OnEdge,
    Problem,
    Signed,
    answered_once,
    as_problem,
    bound,
    canonical,
    json_answer,
    responses,
)
from upcard_gateway.entrypoints.http.players import (
    OfPlayer,
    OfSession,
    accounts_on,
    checked_currency,
    launch_tokens_on,
    no_such_player,
    people_on,
    player_of,
    player_sessions_on,
    sessions_on,
)
from upcard_gateway.entrypoints.http.session_answers import (
    launched,
    period_of,
    reality_of,
    shown,
    stored_launch,
    stored_session,
)
from upcard_gateway.settings import GatewaySettings
from upcard_platform.models import sessions as models

router = APIRouter(tags=["sessions"])
router.include_router(launching.router)
router.include_router(erasing.router)

LAUNCH: Final = "POST /v1/sessions"
KEEP_ALIVE: Final = "POST /v1/sessions/{session}/keep_alive"
END: Final = "POST /v1/sessions/{session}/end"
_ONCE: Final = ("request_id_reused", "request_under_way")
_TABLES: Final = PostgresSessions()
_is_session = re.compile("[A-Za-z0-9_-]{1,64}").fullmatch

_log = structlog.get_logger("upcard.gateway.sessions")

Appends = Sequence[StreamAppend]


@router.post(
    "/v1/sessions",
    response_model=models.Launched,
    responses=responses("currency_refused", "session_ended", "player_unknown", "not_found", *_ONCE),
)
async def launch(body: models.Launch, caller: Signed, edge: OnEdge) -> Response:
    """Open a session for a player, who becomes known by it; their former session ends."""
    same = canonical(body)
    stored = await bound(edge, caller, LAUNCH, body.request_id, same)
    if stored is None:
        account = await _prepared(body, caller, edge)
        opened = partial(_open, body, caller, edge, account)
        stored = await answered_once(edge, caller, LAUNCH, body.request_id, same, opened)
    kept = json.loads(stored)
    token = launch_tokens_on(edge.settings).token(kept["session"], kept["key"])
    if token is None:
        raise Problem("session_ended", "the key of this launch's token is gone", request_id=body.request_id)
    page = caller.terms.launch_url or f"{edge.settings.public_url}/play"
    return json_answer(launched(kept, body.player, token, page))


async def _prepared(body: models.Launch, caller: Caller, edge: Edge) -> PlayerAccount:
    """The player with an open account. Raises Problem."""
    checked_currency(caller, body.currency)
    if body.table is not None and not sees(caller.environment, edge.settings.sandbox_tables, body.table):
        raise Problem("not_found", "there is no such table")
    person = Person(
        caller.operator, body.player, body.nickname, body.country, body.language, body.cashier_url
    )
    return await accounts_on(edge).linked(person, body.currency, caller.wallet)


async def _open(
    body: models.Launch, caller: Caller, edge: Edge, account: PlayerAccount, connection: Connection
) -> tuple[bytes, Appends]:
    session_id = new_id()
    token, key_id = launch_tokens_on(edge.settings).new(session_id)
    opening = Opening(
        session=session_id,
        launch_hash=hash_of(token),
        player=account.player,
        operator=caller.operator,
        account=account.account,
        currency=body.currency,
        environment=caller.environment,
        wallet=caller.wallet,
        limits=_limits(body, caller),
        duration_s=body.limits.duration_s,
        table=body.table,
    )
    session, appends = await sessions_on(edge.settings).open(connection, opening, edge.now())
    # The player is locked by now: who is known at this point cannot be erased before the session is there.
    known = await PeopleTables.player_of(connection, caller.operator, body.player)
    if known is None or known.id != account.player:
        raise no_such_player()
    return stored_launch(session, key_id), appends


def _limits(body: models.Launch, caller: Caller) -> Limits:
    """The narrower of what the launch says and what holds for all of the operator's players."""
    general = caller.terms.limits_of(body.currency)
    said = (body.limits.wager_max, None if general is None else general.max_bet)
    return Limits(min((one for one in said if one is not None), default=None), body.limits.round_max)


@router.get("/v1/sessions/{session}", response_model=models.Session, responses=responses("session_unknown"))
async def session_now(session: OfSession, caller: Signed, edge: OnEdge) -> Response:
    """A session as it stands."""
    found = await _found(edge, caller, session)
    return json_answer(shown(found, await _partner_id(edge, found), edge.now()))


@router.post(
    "/v1/sessions/{session}/keep_alive",
    response_model=models.Session,
    responses=responses("session_unknown", "session_ended", *_ONCE),
)
async def keep_alive(session: OfSession, body: models.KeepAlive, caller: Signed, edge: OnEdge) -> Response:
    """The player is still there; a session without any sign of its player ends after a while."""

    async def work(connection: Connection) -> tuple[bytes, Appends]:
        now = edge.now()
        try:
            seen = await sessions_on(edge.settings).seen(connection, session, now, operator=caller.operator)
        except SessionUnknown:
            raise _unknown() from None
        except SessionOver as over:
            raise Problem("session_ended", f"the session has ended: {over.session.end_reason}") from None
        return stored_session(seen, now), ()

    same = canonical(body, session=session)
    return await _shown(
        edge, caller, await answered_once(edge, caller, KEEP_ALIVE, body.request_id, same, work)
    )


@router.post(
    "/v1/sessions/{session}/end",
    response_model=models.Session,
    responses=responses("session_unknown", *_ONCE),
)
async def end(session: OfSession, body: models.EndSession, caller: Signed, edge: OnEdge) -> Response:
    """End a session; one that has ended stays as it is. What is staked is decided by the rules."""

    async def work(connection: Connection) -> tuple[bytes, Appends]:
        now = edge.now()
        try:
            ended, appends = await sessions_on(edge.settings).end(
                connection, session, now, "platform", operator=caller.operator
            )
        except SessionUnknown:
            raise _unknown() from None
        return stored_session(ended, now), appends

    same = canonical(body, session=session)
    return await _shown(edge, caller, await answered_once(edge, caller, END, body.request_id, same, work))


@router.get(
    "/v1/sessions/{session}/reality",
    response_model=models.RealityCheck,
    responses=responses("session_unknown"),
)
async def reality(session: OfSession, caller: Signed, edge: OnEdge) -> Response:
    """For how long the player has played in this session, and what it came to."""
    found = await _found(edge, caller, session)
    now = edge.now()
    try:
        with acting_as(acting_player(found.player)):
            answer = await edge.services.history.GetPlayerTotals(period_of(found, now))
    except grpc.aio.AioRpcError as error:
        raise as_problem(error, money="none_moved") from error
    if answer.WhichOneof("result") != "totals":
        raise RuntimeError(f"history refuses a player's own totals: {answer.refusal.reason}")
    return json_answer(reality_of(found, await _partner_id(edge, found), answer.totals, now))


@router.get(
    "/v1/players/{player}/sessions",
    response_model=models.SessionList,
    responses=responses("player_unknown", "cursor_invalid"),
)
async def sessions_of(
    player: OfPlayer,
    caller: Signed,
    edge: OnEdge,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """A player's sessions, the newest first."""
    known = await player_of(edge, caller, player)
    async with edge.pool.acquire() as connection:
        last = None
        if after is not None:
            last = await _TABLES.session(connection, after) if _is_session(after) else None
            if last is None or last.player != known.id:
                raise Problem("cursor_invalid", "`after` is no `next` of this list")
        found = await _TABLES.of_player(connection, known.id, last, limit + 1)
    now = edge.now()
    items = [shown(one, player, now) for one in found[:limit]]
    return json_answer(
        models.SessionList(items=items, next=items[-1].session if len(found) > limit else None)
    )


async def start(service: Service[GatewaySettings], edge: Edge) -> None:
    """End sessions that are over, in every instance: each is ended by one of them."""
    await service.run("ends of sessions", partial(_end_due, edge))


async def _end_due(edge: Edge, ending: asyncio.Event) -> None:
    desk = player_sessions_on(edge)
    while not ending.is_set():
        ended = 0
        try:
            ended = await desk.end_due(edge.now())
        except Exception as error:  # noqa: BLE001 - they are over in any case; it is tried again
            _log.warning("sessions could not be ended", why=type(error).__name__, exc_info=error)
        if ended:
            _log.info("sessions are over", number=ended)
        if ended < SWEPT_MAX:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), edge.settings.sessions_swept_s)


async def _found(edge: Edge, caller: Caller, session: str) -> Session:
    async with edge.pool.acquire() as connection:
        try:
            return await sessions_on(edge.settings).found(connection, session, operator=caller.operator)
        except SessionUnknown:
            raise _unknown() from None


async def _partner_id(edge: Edge, session: Session) -> str | None:
    return (await people_on(edge).partner_ids(session.operator, [session.player])).get(session.player)


async def _shown(edge: Edge, caller: Caller, stored: bytes) -> Response:
    """A stored answer, with who it is about."""
    answer = models.Session.model_validate_json(stored)
    found = await _found(edge, caller, answer.session)
    return json_answer(answer.model_copy(update={"player": await _partner_id(edge, found)}))


def _unknown() -> Problem:
    return Problem("session_unknown", "you have no session of this id")
