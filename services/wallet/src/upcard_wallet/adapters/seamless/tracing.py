"""Which calls to a partner a transaction of the ledger stands for: what a report's line is traced by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.adapters.postgres.operator_reports import ReportLine
from upcard_wallet.adapters.seamless import ids

_OF_LANES: Final = """
SELECT c.call, c.lane, c.kind, c.undoes, c.state, c.reason, c.total, c.business_ids, c.recorded_at,
       c.changed_at, c.cause_event,
       (SELECT t.transaction FROM wallet.transactions AS t
         WHERE c.posted AND c.undoes = 'bet' AND t.round = l.round AND t.account = l.account
           AND t.kind = 'release' AND t.recorded_at <= c.recorded_at
         ORDER BY t.recorded_at DESC LIMIT 1) AS release
  FROM wallet.partner_calls AS c JOIN wallet.partner_lanes AS l USING (lane)
 WHERE c.lane = ANY ($1::uuid[]) ORDER BY c.lane, c.number
"""

_LONE: Final = """
SELECT c.call, c.lane, c.kind, c.undoes, c.state, c.reason, c.total, c.business_ids, c.recorded_at,
       c.changed_at, c.cause_event, NULL::uuid AS release, a.account, a.player, a.currency
  FROM wallet.partner_lanes AS l
  JOIN wallet.accounts AS a USING (account)
  JOIN wallet.partner_calls AS c USING (lane)
 WHERE l.round = $2 AND a.operator = $1 AND c.recorded_at >= $3 AND c.recorded_at < $4
   AND NOT c.posted AND (c.kind = 'bet' OR c.undoes = 'bet')
 ORDER BY c.recorded_at, c.call LIMIT $5
"""

_TOTALS: Final = """
SELECT a.currency, c.kind, c.undoes, c.state, count(*) AS calls, sum(c.total)::bigint AS amount
  FROM wallet.partner_calls AS c
  JOIN wallet.partner_lanes AS l USING (lane)
  JOIN wallet.accounts AS a USING (account)
 WHERE c.recorded_at >= $2 AND c.recorded_at < $3 AND a.operator = $1
 GROUP BY a.currency, c.kind, c.undoes, c.state ORDER BY a.currency, c.kind, c.undoes, c.state
"""


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call to a partner, by the ids that it was told."""

    call: UUID
    lane: UUID
    kind: str
    undoes: str | None
    state: str
    reason: str | None
    """A slug: what the partner answered where it did not do it, or why the call waits."""
    total: int
    business_ids: Sequence[UUID]
    recorded_at: dt.datetime
    changed_at: dt.datetime
    cause_event: UUID | None
    release: UUID | None
    """Of a rollback of a bet that was held: the release, which was posted just before it was noted."""


@dataclass(frozen=True, slots=True)
class LoneCall:
    """A call that no transaction stands for, and whose it is."""

    told: TracedCall
    account: str
    player: str
    currency: str


@dataclass(frozen=True, slots=True)
class CallTotal:
    """All calls of one kind and state."""

    currency: str
    kind: str
    undoes: str | None
    state: str
    calls: int
    amount: int


async def calls_of(
    connection: Connection, posted: Sequence[ReportLine]
) -> Mapping[UUID, Sequence[TracedCall]]:
    """The calls that each of these transactions of seamless accounts stands for, by transaction."""
    lanes = {lane_of(one) for one in posted}
    if not lanes:
        return {}
    rows = await connection.fetch(_OF_LANES, list(lanes))
    return traced(posted, [TracedCall(**row) for row in rows])


async def lone_calls(
    connection: Connection, operator: str, round_name: str, since: dt.datetime, until: dt.datetime, limit: int
) -> list[LoneCall]:
    """The first calls of a round that moved nothing: bets without an end or refused, and their rollbacks."""
    rows = await connection.fetch(_LONE, operator, round_name, since, until, limit)
    return [_lone(dict(row)) for row in rows]


async def call_totals(
    connection: Connection, operator: str, since: dt.datetime, until: dt.datetime
) -> list[CallTotal]:
    """Sums of the calls that were noted in a period."""
    return [CallTotal(*row) for row in await connection.fetch(_TOTALS, operator, since, until)]


def _lone(row: dict[str, Any]) -> LoneCall:
    account, player, currency = (row.pop(name) for name in ("account", "player", "currency"))
    return LoneCall(TracedCall(**row), account, player, currency)


def lane_of(posted: ReportLine) -> UUID:
    """The lane in which a transaction's calls are."""
    if posted.round is None:
        return ids.lane_of_credit(posted.account, posted.business_key)
    return ids.lane_of_round(posted.account, posted.round)


def traced(posted: Iterable[ReportLine], calls: Iterable[TracedCall]) -> dict[UUID, list[TracedCall]]:
    """Calls by the transaction that each belongs to; a transaction without any is missing."""
    by_call: dict[UUID, UUID] = {}
    by_cause: dict[tuple[UUID, UUID], UUID] = {}
    for one in posted:
        for call in _ids_of(one):
            by_call[call] = one.transaction
        if one.kind in {"settlement", "correction"} and one.cause_event is not None:
            by_cause[lane_of(one), one.cause_event] = one.transaction
    found: dict[UUID, list[TracedCall]] = {}
    for told in calls:
        by_id = by_call.get(told.call)
        caused = None if told.cause_event is None else by_cause.get((told.lane, told.cause_event))
        # A win that could not be taken back is of two: the correction, and the debt that came of it.
        for transaction in dict.fromkeys((by_id, caused, told.release)):
            if transaction is not None:
                found.setdefault(transaction, []).append(told)
    return found


def _ids_of(posted: ReportLine) -> list[UUID]:
    """Ids of calls that follow from a transaction's own."""
    kind, _, rest = posted.business_key.partition("/")
    found = [ids.win_of_credit(posted.account, posted.business_key)]
    if kind == "hold" and posted.round is not None:
        found.append(ids.bet_call(posted.account, posted.round, rest.rpartition("/")[2]))
    if kind == "debt":
        found.append(UUID(rest))
    return found
