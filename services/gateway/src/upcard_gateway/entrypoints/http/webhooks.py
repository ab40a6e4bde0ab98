"""Webhooks: where they are sent, which there were, and sending them again. And what sends them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.lifecycle import Service
from upcard_gateway.adapters.postgres import webhook_endpoints, webhook_lists
from upcard_gateway.adapters.postgres.people import PostgresPeople
from upcard_gateway.adapters.postgres.webhook_queue import Sealed
from upcard_gateway.adapters.webhook_metrics import WebhookMetrics
from upcard_gateway.adapters.webhook_secrets import new_secret, shown, stored
from upcard_gateway.adapters.webhook_sender import HttpSender
from upcard_gateway.adapters.webhook_upkeep import WebhookUpkeep
from upcard_gateway.adapters.webhook_work import WebhookWork
from upcard_gateway.domain.webhook_addresses import refused_url
from upcard_gateway.entrypoints.following import follow_services
from upcard_gateway.entrypoints.http.edge import (
    Edge,
    OnEdge,
    Problem,
    Signed,
    answered_once,
    canonical,
    json_answer,
    responses,
)
from upcard_gateway.settings import GatewaySettings
from upcard_platform.models.webhooks import (
    ENDPOINTS_MAX,
    AddEndpoint,
    ChangeEndpoint,
    Delivery,
    DeliveryPage,
    DeliveryState,
    Endpoint,
    EndpointPage,
    EndpointWithSecret,
    ParkedResent,
    ResendParked,
    ResendWebhook,
    WebhookType,
)

router = APIRouter(tags=["webhooks"])

RESENT_MAX: Final = 1_000
"""Most parked webhooks that one call queues again."""
_LISTED_MAX: Final = 100
_STOPS_WITHIN_S: Final = 15.0

_ID: Final = "^[A-Za-z0-9_-]{1,64}$"
_EndpointId = Annotated[str, Path(pattern=_ID, description="an endpoint of yours")]
_WebhookId = Annotated[str, Path(min_length=1, max_length=64, description="a webhook's id")]


@router.get(
    "/v1/webhook-endpoints", response_model=EndpointPage, responses=responses(), summary="Where webhooks go"
)
async def list_endpoints(caller: Signed, edge: OnEdge) -> Response:
    """Your endpoints, the newest first; removed ones are shown for 30 days."""
    async with edge.pool.acquire() as connection:
        rows = await webhook_endpoints.listed(connection, caller.operator, _LISTED_MAX)
    return json_answer(EndpointPage(items=[_endpoint(row) for row in rows]))


@router.post(
    "/v1/webhook-endpoints",
    response_model=EndpointWithSecret,
    responses=responses(
        "request_id_reused", "request_under_way", "webhook_url_refused", "webhook_endpoints_full"
    ),
    summary="Have webhooks sent to an address",
)
async def add_endpoint(body: AddEndpoint, caller: Signed, edge: OnEdge) -> Response:
    """From now on what happens is sent there, signed with the secret of the answer; nothing earlier is.

    Keep the secret: it is shown in this answer alone, and in that of the same request repeated.
    """
    inside = edge.settings.webhooks_inside
    why = refused_url(body.url, inside=inside)
    if why is not None:
        raise Problem("webhook_url_refused", why, request_id=body.request_id)
    keyring = edge.settings.keyring()

    async def work(connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        if await webhook_endpoints.count_for_adding(connection, caller.operator) >= ENDPOINTS_MAX:
            detail = f"an operator has {ENDPOINTS_MAX} endpoints at the most"
            raise Problem("webhook_endpoints_full", detail, request_id=body.request_id)
        endpoint = f"we-{secrets.token_urlsafe(12)}"
        secret = new_secret(keyring, endpoint, 1)
        row = await webhook_endpoints.add(
            connection, endpoint, caller.operator, caller.environment, body.url, body.types, secret
        )
        return stored(_endpoint(row), secret), ()

    route = "POST /v1/webhook-endpoints"
    answer = await answered_once(edge, caller, route, body.request_id, canonical(body), work)
    return json_answer(shown(keyring, answer))


@router.post(
    "/v1/webhook-endpoints/{endpoint}/remove",
    response_model=Endpoint,
    responses=responses("not_found", "request_id_reused", "request_under_way", "webhook_endpoint_removed"),
    summary="Send nothing more to an endpoint",
)
async def remove_endpoint(
    endpoint: _EndpointId, body: ChangeEndpoint, caller: Signed, edge: OnEdge
) -> Response:
    """What is queued for it is cancelled; a try that is under way may still arrive."""

    async def work(connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        await _own(connection, caller.operator, endpoint)
        row = await webhook_endpoints.remove(connection, endpoint)
        return _endpoint(row).model_dump_json().encode(), ()

    route = "POST /v1/webhook-endpoints/{endpoint}/remove"
    told = canonical(body, endpoint=endpoint)
    return json_answer(await answered_once(edge, caller, route, body.request_id, told, work))


@router.post(
    "/v1/webhook-endpoints/{endpoint}/secret",
    response_model=EndpointWithSecret,
    responses=responses("not_found", "request_id_reused", "request_under_way", "webhook_endpoint_removed"),
    summary="Replace an endpoint's secret",
)
async def replace_secret(
    endpoint: _EndpointId, body: ChangeEndpoint, caller: Signed, edge: OnEdge
) -> Response:
    """Webhooks are signed with the new secret and, for a day, with the one before: believe either then."""
    keyring = edge.settings.keyring()

    async def work(connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        before = await _own(connection, caller.operator, endpoint)
        secret = new_secret(keyring, endpoint, before.version + 1)
        overlap_s = edge.settings.webhook_secret_overlap_s
        row = await webhook_endpoints.replace_secret(connection, endpoint, secret, overlap_s)
        return stored(_endpoint(row), secret), ()

    route = "POST /v1/webhook-endpoints/{endpoint}/secret"
    told = canonical(body, endpoint=endpoint)
    answer = await answered_once(edge, caller, route, body.request_id, told, work)
    return json_answer(shown(keyring, answer))


@router.post(
    "/v1/webhook-endpoints/{endpoint}/resend-parked",
    response_model=ParkedResent,
    responses=responses("not_found", "request_id_reused", "request_under_way", "webhook_endpoint_removed"),
    summary="Send an endpoint's parked webhooks again",
)
async def resend_parked(endpoint: _EndpointId, body: ResendParked, caller: Signed, edge: OnEdge) -> Response:
    """Queues those that were given up, the oldest first, up to 1,000: ask again while there are more."""

    async def work(connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        # Not locked: whoever notes what was sent locks subjects first, as this does.
        found = await webhook_endpoints.found(connection, caller.operator, endpoint)
        _stands(found)
        resent = await webhook_lists.send_parked(connection, caller.operator, endpoint, RESENT_MAX)
        return ParkedResent(resent=resent, more=resent == RESENT_MAX).model_dump_json().encode(), ()

    route = "POST /v1/webhook-endpoints/{endpoint}/resend-parked"
    told = canonical(body, endpoint=endpoint)
    return json_answer(await answered_once(edge, caller, route, body.request_id, told, work))


@router.get(
    "/v1/webhooks",
    response_model=DeliveryPage,
    responses=responses("cursor_invalid"),
    summary="What was sent, waits, or was given up",
)
async def list_webhooks(  # noqa: PLR0913, PLR0917 - each is a parameter of the query
    caller: Signed,
    edge: OnEdge,
    limit: Annotated[int, Query(ge=1, le=200, description="most items of a page")] = 50,
    after: Annotated[str | None, Query(max_length=64, description="`next` of the page before")] = None,
    endpoint: Annotated[str | None, Query(pattern=_ID, description="of this endpoint alone")] = None,
    type: Annotated[WebhookType | None, Query(description="of this type alone")] = None,  # noqa: A002 - its name
    state: Annotated[DeliveryState | None, Query(description="in this state alone")] = None,
) -> Response:
    """Your webhooks, the newest first. Those that got through are listed for 30 days, parked ones for 90."""
    wanted = webhook_lists.Wanted(endpoint, type, state)
    async with edge.pool.acquire() as connection:
        before = None if after is None else await _place(connection, caller.operator, after)
        rows = await webhook_lists.listed(connection, caller.operator, wanted, before, limit + 1)
    page, more = rows[:limit], len(rows) > limit
    items = [Delivery.model_validate(asdict(row)) for row in page]
    return json_answer(DeliveryPage(items=items, next=page[-1].webhook if more else None))


@router.get(
    "/v1/webhooks/{webhook}", response_model=Delivery, responses=responses("not_found"), summary="One webhook"
)
async def get_webhook(webhook: _WebhookId, caller: Signed, edge: OnEdge) -> Response:
    """What became of a webhook of yours."""
    async with edge.pool.acquire() as connection:
        found = await _found(connection, caller.operator, webhook)
    return json_answer(Delivery.model_validate(asdict(found)))


@router.post(
    "/v1/webhooks/{webhook}/resend",
    response_model=Delivery,
    responses=responses(
        "not_found", "request_id_reused", "request_under_way", "webhook_queued", "webhook_endpoint_removed"
    ),
    summary="Send a webhook again",
)
async def resend_webhook(webhook: _WebhookId, body: ResendWebhook, caller: Signed, edge: OnEdge) -> Response:
    """Queues a webhook that got through, or was given up, once more: with its id, at its place."""

    async def work(connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
        asked = _uuid(webhook)
        removed = asked and await webhook_lists.removed_endpoint_of(connection, caller.operator, asked)
        if removed:
            raise Problem("webhook_endpoint_removed", "nothing is sent to its endpoint any more")
        found = await _found(connection, caller.operator, webhook)
        if found.state == "queued":
            raise Problem("webhook_queued", "it waits, or is being tried, already")
        await webhook_lists.send_again(connection, found)
        again = await _found(connection, caller.operator, webhook)
        return Delivery.model_validate(asdict(again)).model_dump_json().encode(), ()

    route = "POST /v1/webhooks/{webhook}/resend"
    told = canonical(body, webhook=webhook)
    return json_answer(await answered_once(edge, caller, route, body.request_id, told, work))


async def start(service: Service[GatewaySettings], edge: Edge) -> None:
    """Follow the services whose events webhooks tell of, and send what is queued, in the background."""
    settings = service.settings
    sender = await service.start("webhooks' connections", HttpSender(inside=settings.webhooks_inside))
    work = WebhookWork(
        edge.pool,
        PostgresPeople(edge.pool),
        sender,
        settings.keyring(),
        policy=settings.webhook_policy(),
        now=edge.now,
        observer=WebhookMetrics(),
    )
    await service.run("webhooks", work.run, stop_within_s=settings.webhook_timeout_s + _STOPS_WITHIN_S)
    upkeep = WebhookUpkeep(
        edge.pool, settings.webhook_queue_max, settings.webhook_kept_days, settings.webhook_parked_kept_days
    )
    await service.run("webhooks' upkeep", upkeep.run)
    await follow_services(service, edge.pool, edge.store)


async def _own(connection: Connection, operator: str, endpoint: str) -> Sealed:
    """The secret of an operator's endpoint, which is locked. Raises Problem."""
    found = await webhook_endpoints.locked(connection, operator, endpoint)
    if found is None:
        raise Problem("not_found", "there is no such endpoint")
    _stands(found[0])
    return found[1]


def _stands(row: webhook_endpoints.EndpointRow | None) -> None:
    """Raise Problem unless it is an endpoint that was not removed."""
    if row is None:
        raise Problem("not_found", "there is no such endpoint")
    if row.removed_at is not None:
        raise Problem("webhook_endpoint_removed", "the endpoint was removed: nothing is sent there any more")


async def _place(connection: Connection, operator: str, after: str) -> int:
    """Where in the list a cursor points. Raises Problem."""
    cursor = _uuid(after)
    place = None if cursor is None else await webhook_lists.number_of(connection, operator, cursor)
    if place is None:
        raise Problem("cursor_invalid", "`after` is no cursor of this list")
    return place


async def _found(connection: Connection, operator: str, webhook: str) -> webhook_lists.DeliveryRow:
    """A webhook of an operator. Raises Problem."""
    asked = _uuid(webhook)
    found = None if asked is None else await webhook_lists.one(connection, operator, asked)
    if found is None:
        raise Problem("not_found", "there is no such webhook")
    return found


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _endpoint(row: webhook_endpoints.EndpointRow) -> Endpoint:
    return Endpoint.model_validate(asdict(row))
