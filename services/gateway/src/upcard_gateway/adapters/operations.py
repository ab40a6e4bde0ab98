"""How everything stands, asked of the services in the name of a member of staff, side by side."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable
from typing import Final, TypeVar

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore.postgres import Pool
from messaging.operations import LocalOperations, Operations, OperationsAway, OperationsRefused
from servicekit.grpc import failure_of
from upcard.history.v1 import history_pb2
from upcard.wallet.v1 import partners_pb2
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.health import (
    Circuit,
    Partner,
    Replays,
    Seen,
    Source,
    Standing,
    View,
)

__all__ = ["SERVICES", "ServiceHealth", "operations_of", "time_of"]

SERVICES: Final = ("table", "wallet", "bonus", "history", "gateway")
"""In the order in which pages show them."""
CALL_S: Final = 5.0
"""Deadline of each call."""

_CIRCUITS: Final[dict[int, Circuit]] = {
    partners_pb2.CIRCUIT_CLOSED: "closed",
    partners_pb2.CIRCUIT_OPEN: "open",
    partners_pb2.CIRCUIT_PROBING: "probing",
}

T = TypeVar("T")


def operations_of(services: Services, pool: Pool) -> dict[str, Operations]:
    """Every service's machinery, the gateway's own included, by service in the order of pages."""
    known = {**services.operations, "gateway": LocalOperations("gateway", pool)}
    return {service: known[service] for service in SERVICES if service in known}


class ServiceHealth:
    """Asks all services at once; what does not answer is missing, and named."""

    def __init__(self, services: Services, operations: dict[str, Operations]) -> None:
        self._services = services
        self._operations = operations

    async def ask(self) -> Seen:
        """How everything stands now. Raises nothing for services that are away."""
        names = list(self._operations)
        lags, stopped, partners, standing = await asyncio.gather(
            asyncio.gather(*(_or_why(one.lag()) for one in self._operations.values())),
            asyncio.gather(*(_or_why(one.stopped()) for one in self._operations.values())),
            _or_why(self._partners()),
            _or_why(self._standing()),
        )
        away = {name: lag for name, lag in zip(names, lags, strict=True) if isinstance(lag, str)}
        return Seen(
            lags=tuple(one for one in lags if not isinstance(one, str)),
            stopped={
                name: tuple(found)
                for name, found in zip(names, stopped, strict=True)
                if not isinstance(found, str) and found
            },
            away=away,
            partners=None if isinstance(partners, str) else partners,
            standing=None if isinstance(standing, str) else standing,
        )

    async def _partners(self) -> tuple[Partner, ...]:
        answer = await self._services.wallet.ListPartners(partners_pb2.ListPartnersRequest(), timeout=CALL_S)
        return tuple(map(_partner, answer.partners))

    async def _standing(self) -> Standing:
        answer = await self._services.history.GetStanding(history_pb2.GetStandingRequest(), timeout=CALL_S)
        return Standing(
            tuple(
                Source(
                    one.source,
                    one.connected,
                    one.behind if one.HasField("behind") else None,
                    one.stopped_shards,
                )
                for one in answer.sources
            ),
            tuple(
                View(one.view, one.behind, one.parked_streams, one.stopped, one.rebuilding)
                for one in answer.views
            ),
            Replays(answer.replays.waiting, answer.replays.oldest_ms / 1_000, answer.replays.wrong),
        )


async def _or_why(asked: Awaitable[T]) -> T | str:
    """The answer, or why there is none, as a slug."""
    try:
        return await asked
    except OperationsRefused as refused:
        return refused.reason
    except OperationsAway as away:
        return away.slug
    except grpc.aio.AioRpcError as error:
        return failure_of(error).reason


def _partner(one: partners_pb2.Partner) -> Partner:
    return Partner(
        one.operator,
        one.dialect,
        _CIRCUITS.get(one.circuit, "closed"),
        time_of(one.since) if one.HasField("since") else None,
        one.failures,
        one.bets_under_way,
        time_of(one.answered_at) if one.HasField("answered_at") else None,
        one.waiting,
        one.parked,
        one.failing_for_s,
    )


def time_of(stamp: Timestamp) -> dt.datetime:
    """A time, in UTC."""
    return stamp.ToDatetime(dt.UTC)
