"""Calls that wait for people: listing them, and what people decide."""

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from eventstore.events import StreamAppend
from eventstore.postgres.connections import Connection
from upcard_wallet.app.parked import ParkedCall
from upcard_wallet.app.purse import HoldRecords

Choice = Literal["again", "done_by_hand", "owed_by_player"]

PAGE_MAX: Final = 500

_PARKED: Final = """
SELECT calls.call, lanes.lane, lanes.operator, lanes.account, lanes.round, calls.kind, calls.undoes,
       calls.total, accounts.currency, calls.reason, calls.recorded_at, calls.changed_at,
       (SELECT count(*) FROM wallet.partner_calls AS behind
         WHERE behind.lane = lanes.lane AND behind.state = 'queued') AS behind
  FROM wallet.partner_lanes AS lanes
  JOIN wallet.accounts AS accounts USING (account)
  JOIN wallet.partner_calls AS calls ON calls.lane = lanes.lane AND calls.state = 'parked'
"""

_LIST: Final = f"""{_PARKED}
 WHERE lanes.state = 'parked' AND lanes.operator = $1 AND ($2::uuid IS NULL OR lanes.lane > $2)
 ORDER BY lanes.lane LIMIT $3
"""

_FIND: Final = f"{_PARKED} WHERE calls.call = $1"

_LOOK: Final = """
SELECT calls.state, calls.undoes, calls.posted, calls.business_ids, calls.lane
  FROM wallet.partner_calls AS calls WHERE calls.call = $1
"""

_DECIDED: Final = """
INSERT INTO wallet.partner_decisions (decision, call, what, proposer, approver, reason)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (decision) DO NOTHING
"""

_CALL: Final = """
UPDATE wallet.partner_calls
   SET state = CASE $2 WHEN 'again' THEN 'queued' ELSE 'done' END,
       posted = posted AND $2 <> 'owed_by_player', reason = nullif($2, 'again'),
       changed_at = clock_timestamp()
 WHERE call = $1 AND state = 'parked'
"""

_LANE: Final = """
UPDATE wallet.partner_lanes AS lanes
   SET state = CASE WHEN head.call IS NULL THEN 'idle' ELSE 'waiting' END,
       due_at = CASE WHEN head.call IS NULL THEN NULL ELSE greatest(clock_timestamp(), head.not_before) END,
       failures = 0, failing_since = NULL, contradictions = 0
  FROM (SELECT 1) AS one
  LEFT JOIN LATERAL (
      SELECT calls.call, calls.not_before FROM wallet.partner_calls AS calls
       WHERE calls.lane = $1 AND calls.state = 'queued' ORDER BY calls.number LIMIT 1
  ) AS head ON true
 WHERE lanes.lane = $1
"""


class NotParked(Exception):
    """The call is not parked: somebody has decided already, or there is no such call."""


async def parked_calls(
    connection: Connection, operator: str, *, after: UUID | None = None, limit: int = 100
) -> list[ParkedCall]:
    """An operator's parked calls by lane, at most PAGE_MAX; `after` is the last lane of the page before."""
    rows = await connection.fetch(_LIST, operator, after, min(limit, PAGE_MAX))
    return [ParkedCall(**dict(row)) for row in rows]


async def find_parked(connection: Connection, call: UUID) -> ParkedCall | None:
    """A call, if it is parked now."""
    row = await connection.fetchrow(_FIND, call)
    return None if row is None else ParkedCall(**dict(row))


@dataclass(frozen=True, slots=True)
class ParkedDecision:
    """What people decided about one parked call.

    `again`: it is tried again, with the full time to succeed. `done_by_hand`: the partner has been brought to
    it by other means, so it counts as done. `owed_by_player`: the partner never will; the ledger posts it
    back from the player's receivable in the same transaction, so the call tells of nothing any more. These
    two take two people.
    """

    decision: UUID
    """Of the request: the same again has no second effect."""
    call: UUID
    what: Choice
    proposer: str
    approver: str
    reason: str


async def decide_parked(
    connection: Connection, records: HoldRecords, decided: ParkedDecision
) -> tuple[StreamAppend, ...]:
    """Do what people decided, in the caller's transaction, which stores the appends as its last act.

    Raises NotParked, and ValueError for an end by one person alone.
    """
    if decided.what != "again" and decided.proposer == decided.approver:
        raise ValueError("it takes two people to end a call without its partner")
    row = await connection.fetchrow(_LOOK, decided.call)
    if row is None or row["state"] != "parked":
        raise NotParked(str(decided.call))
    appends: tuple[StreamAppend, ...] = ()
    if decided.what == "done_by_hand" and row["undoes"] == "bet" and not row["posted"]:
        appends = tuple(await records.resolve(connection, row["business_ids"]))
    await connection.execute(
        "SELECT FROM wallet.partner_lanes WHERE lane = $1 FOR NO KEY UPDATE", row["lane"]
    )
    changed = await connection.execute(_CALL, decided.call, decided.what)
    if changed != "UPDATE 1":
        raise NotParked(str(decided.call))
    await connection.execute(
        _DECIDED,
        decided.decision,
        decided.call,
        decided.what,
        decided.proposer,
        decided.approver,
        decided.reason,
    )
    await connection.execute(_LANE, row["lane"])
    return appends
