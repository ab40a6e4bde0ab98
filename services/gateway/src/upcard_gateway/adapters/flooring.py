"""What the floor reads of tables and rounds, in the name of the member of staff who looks."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import grpc
import grpc.aio
import structlog

from eventstore.postgres import Pool
from servicekit.grpc import Actor, ActorKind, acting_as
from upcard.history.v1 import history_pb2
from upcard.table.v1 import watching_pb2
from upcard_gateway.adapters.postgres.significant import floor_tables
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.floor_tables import Bet, FloorRow, Stake, WindowNow, row_of

__all__ = ["Flooring", "bets_in_play"]

CALL_S: Final = 5.0
"""Deadline of each call."""
PAGE: Final = 500
MOST_PAGES: Final = 4
"""More tables than this many pages have are not shown, and the log says so."""
AT_ONCE: Final = 16
"""Rounds that are read at the same time."""
_MOST_SEEN: Final = 5_000

_LOOKER: Final = Actor(ActorKind.STAFF, "gateway-floor", frozenset({"floor"}))
"""Who reads what all members of the floor are shown alike; who may look is checked for each of them."""

_log = structlog.get_logger("upcard.gateway.floor")


@dataclass(slots=True)
class _Seen:
    """Since when a round is as it is."""

    mark: tuple[int, int]
    since_s: float


@dataclass(slots=True)
class Flooring:
    """Tables as they are now, read at most once in `fresh_s` seconds however many look at them."""

    services: Services
    pool: Pool
    fresh_s: float
    _rows: tuple[FloorRow, ...] = ()
    _read_s: float = float("-inf")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _seen: OrderedDict[str, _Seen] = field(default_factory=OrderedDict)

    async def rows(self) -> tuple[FloorRow, ...]:
        """All tables, by id. Raises grpc.aio.AioRpcError: the table service is away."""
        async with self._lock:
            if time.monotonic() - self._read_s >= self.fresh_s:
                with acting_as(_LOOKER):
                    self._rows = await self._read()
                self._read_s = time.monotonic()
            return self._rows

    async def row(self, table: str) -> FloorRow | None:
        """One table, read now; None: no such table. Raises grpc.aio.AioRpcError."""
        with acting_as(_LOOKER):
            answer = await self.services.table.GetTable(
                watching_pb2.GetTableRequest(table=table), timeout=CALL_S
            )
            if answer.WhichOneof("result") != "table":
                return None
            found = _row(answer.table)
            if found is None:
                return None
            stakes = await self._stakes()
            (whole,) = await self._whole([found], stakes)
            return whole

    async def _read(self) -> tuple[FloorRow, ...]:
        found = [row for state in await self._states() if (row := _row(state)) is not None]
        return tuple(await self._whole(found, await self._stakes()))

    async def _whole(
        self, rows: list[FloorRow], stakes: Mapping[str, tuple[Stake, ...]] | None
    ) -> list[FloorRow]:
        async with self.pool.acquire() as connection:
            noted = await floor_tables(connection, [row.table for row in rows])
        at_once = asyncio.Semaphore(AT_ONCE)

        async def whole(row: FloorRow) -> FloorRow:
            async with at_once:
                row = await self._with_round(row)
            name = f"{row.table}.{row.round}"
            row = replace(row, stakes=None if stakes is None else stakes.get(name, ()))
            known = noted.get(row.table)
            if known is None:
                return row
            return replace(
                row,
                dealer_since=known.dealer_since if known.dealer == row.dealer else None,
                shift=known.shift,
                shift_since=known.shift_since,
                manual_reason=known.manual_reason if row.manual else None,
            )

        return list(await asyncio.gather(*map(whole, rows)))

    async def _states(self) -> list[watching_pb2.TableState]:
        found: list[watching_pb2.TableState] = []
        for _ in range(MOST_PAGES):
            after = found[-1].table if found else ""
            request = watching_pb2.ListTablesRequest(after=after, limit=PAGE)
            answer = await self.services.table.ListTables(request, timeout=CALL_S)
            found += answer.tables
            if not answer.more:
                return found
        _log.warning("there are more tables than the floor shows", shown=len(found))
        return found

    async def _with_round(self, row: FloorRow) -> FloorRow:
        if not row.round:
            return row
        request = watching_pb2.GetRoundRequest(table=row.table, round=row.round)
        try:
            answer = await self.services.table.GetRound(request, timeout=CALL_S)
        except grpc.aio.AioRpcError as error:
            # One table that cannot be read is an alarm of its own, and hides no other.
            _log.warning("a round cannot be shown", table=row.table, code=error.code().name)
            return row
        if answer.WhichOneof("result") != "view":
            return row
        view: Mapping[str, Any] = json.loads(answer.view)
        desk, house, window = view["desk"], view["house"], view["window"]
        return replace(
            row,
            view=view,
            step=view["step"],
            round_position=answer.position,
            quiet_s=self._quiet_s(row, answer.position),
            window=None
            if window is None
            else WindowNow(
                window["kind"], window["box"], _moment(window["closes_at"]), window["extended_ms"]
            ),
            awaited=desk["awaited"],
            to_lay=desk["to_lay"],
            confirm=desk["confirm"],
            undecided=desk["undecided"],
            players=house["players"],
            declined=house["declined"],
        )

    def _quiet_s(self, row: FloorRow, position: int) -> float:
        now_s, mark = time.monotonic(), (row.round, position)
        seen = self._seen.get(row.table)
        if seen is None or seen.mark != mark:
            self._seen[row.table] = _Seen(mark, now_s)
            self._seen.move_to_end(row.table)
            if len(self._seen) > _MOST_SEEN:
                self._seen.popitem(last=False)
            return 0.0
        return now_s - seen.since_s

    async def _stakes(self) -> Mapping[str, tuple[Stake, ...]] | None:
        """What is at stake, by round; None: the history is away, which must not hide the tables."""
        found: dict[str, tuple[Stake, ...]] = {}
        after = ""
        try:
            for _ in range(MOST_PAGES):
                request = history_pb2.ListTablesInPlayRequest(after=after, limit=PAGE)
                answer = await self.services.history.ListTablesInPlay(request, timeout=CALL_S)
                for one in answer.rounds:
                    found[one.round] = tuple(
                        Stake(sum_.currency, sum_.players, sum_.amount) for sum_ in one.at_stake
                    )
                after = answer.next
                if not after:
                    break
        except grpc.aio.AioRpcError as error:
            _log.warning("stakes cannot be shown", code=error.code().name)
            return None
        return found


async def bets_in_play(services: Services, actor: Actor, table: str) -> tuple[list[Bet], bool] | None:
    """What players have at stake at a table, and whether there is more; None: the history is away."""
    request = history_pb2.ListBetsInPlayRequest(table=table)
    try:
        with acting_as(actor):
            answer = await services.history.ListBetsInPlay(request, timeout=CALL_S)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.PERMISSION_DENIED:
            raise
        return None
    bets = [
        Bet(one.player, one.operator, one.currency, one.box, one.wager, one.amount, one.blind)
        for one in answer.bets.bets
    ]
    return bets, answer.bets.more


def _row(state: watching_pb2.TableState) -> FloorRow | None:
    told = {
        name: getattr(state, name)
        for name in ("table", "name", "ruleset", "open", "dealer", "round", "step", "manual_mode", "position")
    }
    try:
        return row_of(told, json.loads(state.details))
    except (KeyError, TypeError, ValueError) as why:
        _log.error("a table cannot be shown", table=state.table, why=type(why).__name__)
        return None


def _window(window: Mapping[str, Any]) -> WindowNow:
    return WindowNow(window["kind"], window["box"], _moment(window["closes_at"]), window["extended_ms"])


def _moment(text: str) -> dt.datetime:
    return dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=dt.UTC)
