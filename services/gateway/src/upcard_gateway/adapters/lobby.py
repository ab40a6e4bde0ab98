"""What the lobby shows, read from the services behind the edge. Nobody acts in these calls."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import grpc.aio
import structlog
from google.protobuf.timestamp_pb2 import Timestamp

from rules_core.round.codec import PayloadError, codec_of
from rules_core.round.limits import CurrencyLimits, Durations
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import UnknownRuleset, shipped
from servicekit.grpc import failure_of
from upcard.bonus.v1 import bonus_pb2
from upcard.history.v1 import history_pb2
from upcard.table.v1 import watching_pb2
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.lobby_tables import (
    DealerResult,
    Jackpot,
    NotShown,
    RoundResult,
    Seats,
    SourceAway,
    TableNow,
)

CALL_S: Final = 2.0
"""Deadline of each call."""
PAGE: Final = 500
MOST_PAGES: Final = 10
"""More tables, or jackpots, than this many pages have are not shown, and the log says so."""

_LIMITS: Final = codec_of(CurrencyLimits)
_DURATIONS: Final = codec_of(Durations)
_SETTLED: Final = history_pb2.ROUND_STATE_SETTLED

T = TypeVar("T")

_log = structlog.get_logger("upcard.gateway.lobby")


@dataclass(frozen=True, slots=True)
class _Config:
    """What of a table's `details` is shown."""

    ruleset: Ruleset
    jackpot: str | None
    limits: tuple[CurrencyLimits, ...]
    chips: tuple[tuple[str, tuple[int, ...]], ...]
    durations: Durations
    confirm_cards_ms: int
    reserve_bet_with_ante: bool


class GrpcLobbySources:
    """`LobbySources` over gRPC."""

    def __init__(self, services: Services, *, results: int) -> None:
        """`results`: how many last results of a table are asked for, 1 to 200."""
        self._services = services
        self._results = results
        self._configs: dict[str, tuple[bytes, _Config]] = {}
        """By table; read again only where it has changed, since all tables are read every second."""

    async def tables(self) -> tuple[TableNow, ...]:
        """See `LobbySources`."""
        configs: dict[str, tuple[bytes, _Config]] = {}
        found: list[TableNow] = []
        async for state in self._table_states():
            config = self._config(state)
            if config is not None:
                configs[state.table] = (state.details, config)
                found.append(_table(state, config))
        self._configs = configs
        return tuple(found)

    async def taken(self, table: TableNow) -> Seats:
        """See `LobbySources`."""
        request = watching_pb2.GetRoundRequest(
            table=table.table, round=table.round, viewer=watching_pb2.VIEWER_PUBLIC
        )
        answer = await _asked_of_one(self._services.table.GetRound(request, timeout=CALL_S))
        if answer.WhichOneof("result") != "view":
            raise NotShown(answer.refusal.reason)
        plays = [(box["box"], box["play"]) for box in json.loads(answer.view)["boxes"]]
        taken = tuple(box for box, play in plays if play is not None)
        people = {play["player"] for _, play in plays if play is not None}
        return Seats(table.ruleset.boxes, shared=False, taken=taken, players=len(people))

    async def results(self, table: str) -> tuple[RoundResult, ...]:
        """See `LobbySources`."""
        request = history_pb2.ListResultsRequest(table=table, limit=self._results)
        answer = await _asked_of_one(self._services.history.ListResults(request, timeout=CALL_S))
        return tuple(map(_result, answer.results))

    async def jackpots(self) -> tuple[Jackpot, ...]:
        """See `LobbySources`."""
        found: list[Jackpot] = []
        after = ""
        for _ in range(MOST_PAGES):
            request = bonus_pb2.ListJackpotsRequest(after=after, limit=PAGE)
            answer = await _asked(self._services.bonus.ListJackpots(request, timeout=CALL_S))
            found += map(_jackpot, answer.jackpots)
            if not answer.more:
                return tuple(found)
            after = answer.jackpots[-1].jackpot
        _log.warning("there are more jackpots than the lobby shows", shown=len(found))
        return tuple(found)

    async def _table_states(self) -> AsyncIterator[watching_pb2.TableState]:
        after = ""
        for _ in range(MOST_PAGES):
            request = watching_pb2.ListTablesRequest(after=after, limit=PAGE)
            answer = await _asked(self._services.table.ListTables(request, timeout=CALL_S))
            for state in answer.tables:
                yield state
            if not answer.more:
                return
            after = answer.tables[-1].table
        _log.warning("there are more tables than the lobby shows", shown=MOST_PAGES * PAGE)

    def _config(self, state: watching_pb2.TableState) -> _Config | None:
        known = self._configs.get(state.table)
        if known is not None and known[0] == state.details:
            return known[1]
        try:
            return _config(json.loads(state.details)["config"])
        except UnknownRuleset:
            _log.warning("a table is played by rules that this program lacks", table=state.table)
        except (PayloadError, KeyError, TypeError, ValueError) as why:
            # A table of a newer version, whose settings this program cannot read: the others are shown.
            _log.warning("a table cannot be shown", table=state.table, why=type(why).__name__)
        return None


async def _asked(call: Awaitable[T]) -> T:
    """The answer of a call. Raises SourceAway."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        failure = failure_of(error)
        if failure.may_pass or failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise SourceAway(f"{failure.code.name.lower()}: {failure.reason}") from error
        raise


async def _asked_of_one(call: Awaitable[T]) -> T:
    """The answer of a call about one table. Raises SourceAway, NotShown."""
    try:
        return await _asked(call)
    except grpc.aio.AioRpcError as error:
        failure = failure_of(error)
        _log.error("a table can be shown in part only", reason=failure.reason, error_id=failure.error_id)
        raise NotShown(failure.reason) from error


def _config(config: dict[str, Any]) -> _Config:
    """Raises KeyError, PayloadError and the like: these settings are not of the form that is known here."""
    return _Config(
        ruleset=shipped(config["ruleset"]),
        jackpot=config.get("jackpot"),
        limits=tuple(map(_LIMITS.decode, config["limits"])),
        chips=tuple((chips["currency"], tuple(chips["values"])) for chips in config["chips"]),
        durations=_DURATIONS.decode(config["durations"]),
        confirm_cards_ms=config["confirm_cards_ms"],
        reserve_bet_with_ante=config.get("reserve_bet_with_ante", False),
    )


def _table(state: watching_pb2.TableState, config: _Config) -> TableNow:
    return TableNow(
        table=state.table,
        name=state.name,
        ruleset=config.ruleset,
        open=state.open,
        dealer=state.dealer or None,
        round=state.round,
        step=state.step,
        manual_mode=state.manual_mode,
        jackpot=config.jackpot,
        limits=config.limits,
        chips=config.chips,
        durations=config.durations,
        confirm_cards_ms=config.confirm_cards_ms,
        reserve_bet_with_ante=config.reserve_bet_with_ante,
    )


def _result(message: history_pb2.TableResult) -> RoundResult:
    settled = message.state == _SETTLED
    dealer = message.dealer
    return RoundResult(
        round=message.round,
        number=message.number,
        end="settled" if settled else "cancelled",
        reason=message.reason or None,
        ended_at=_moment(message.ended_at),
        dealer=(
            DealerResult(dealer.first, dealer.final, tuple(dealer.cards), dealer.qualified, dealer.purchased)
            if message.HasField("dealer")
            else None
        ),
        corrections=message.corrections,
    )


def _jackpot(message: bonus_pb2.Jackpot) -> Jackpot:
    return Jackpot(
        jackpot=message.jackpot,
        currency=message.currency,
        pool=message.pool,
        must_hit_by=message.settings.must_hit_by or None,
        cycle=message.cycle,
        commitment=message.commitment or None,
        tables=tuple(sorted(message.settings.tables)),
    )


def _moment(message: Timestamp) -> dt.datetime:
    return message.ToDatetime(dt.UTC)
