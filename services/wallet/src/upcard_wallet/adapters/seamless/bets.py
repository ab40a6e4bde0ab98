"""Bets as rows: written before the partner is asked, ended once, by whoever comes first."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final
from uuid import UUID

from eventstore.events import StreamAppend
from eventstore.postgres.connections import Connection
from upcard_wallet.adapters.seamless import ids
from upcard_wallet.adapters.seamless.partner import Call, Transaction
from upcard_wallet.adapters.seamless.planning import Lane, rollback_of_bet
from upcard_wallet.adapters.seamless.queue import enqueue, hasten, lock_lanes
from upcard_wallet.app.purse import HELD, AccountRef, Answer, HoldGroup, HoldItem, HoldRecords, Outcome

_ASK: Final = """
WITH items AS (
    SELECT place, array_agg(id ORDER BY step) AS ids, array_agg(amount ORDER BY step) AS amounts,
           sum(amount) AS total
      FROM unnest($4::integer[], $5::uuid[], $6::bigint[])
           WITH ORDINALITY AS item (place, id, amount, step)
     GROUP BY place
), inserted AS (
    INSERT INTO wallet.partner_calls (
        call, lane, number, kind, state, posted, business_ids, amounts, total, command, abandoned_at
    )
    SELECT wanted.call, wanted.lane,
           lanes.last_number + row_number() OVER (PARTITION BY wanted.lane ORDER BY wanted.place),
           'bet', 'asking', false, items.ids, items.amounts, items.total, wanted.command::jsonb,
           clock_timestamp() + $7::double precision * interval '1 second'
      FROM unnest($1::uuid[], $2::uuid[], $3::text[])
           WITH ORDINALITY AS wanted (lane, call, command, place)
      JOIN items USING (place)
      JOIN wallet.partner_lanes AS lanes USING (lane)
    RETURNING lane, number
)
UPDATE wallet.partner_lanes AS lanes SET last_number = ends.last_number
  FROM (SELECT lane, max(number) AS last_number FROM inserted GROUP BY lane) AS ends
 WHERE lanes.lane = ends.lane
"""

_END: Final = """
UPDATE wallet.partner_calls AS calls
   SET state = ended.state, posted = ended.posted, reason = ended.reason, changed_at = clock_timestamp()
  FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[]) AS ended (call, state, posted, reason)
 WHERE calls.call = ended.call AND calls.state = 'asking'
"""

_ABANDON: Final = """
UPDATE wallet.partner_calls SET state = 'unknown', changed_at = clock_timestamp()
 WHERE call = ANY ($1::uuid[]) AND state = 'asking'
"""

_OVERDUE: Final = """
SELECT command FROM wallet.partner_calls
 WHERE state = 'asking' AND abandoned_at <= now()
 ORDER BY abandoned_at LIMIT $1
"""


def lane_of(group: HoldGroup) -> Lane:
    """The lane of a group's player and round."""
    return Lane(ids.lane_of_round(group.account.account, group.round), group.account, group.round)


def call_of(group: HoldGroup) -> Call:
    """The call that asks for a group's cash; it asks for some."""
    account = group.account
    return Call(
        ids.bet_call(account.account, group.round, group.bet_id),
        "bet",
        account.operator,
        account.account,
        account.player,
        account.currency,
        group.round,
        tuple(Transaction(item.hold, item.amount) for item in group.items if item.funding is None),
    )


async def write_asking(connection: Connection, groups: Sequence[HoldGroup], *, abandoned_in_s: float) -> None:
    """Write the bets of new groups: from the commit on, whatever happens, each has one end."""
    if not groups:
        return
    lanes = [lane_of(group) for group in groups]
    calls = [call_of(group) for group in groups]
    await lock_lanes(connection, lanes)
    items = [(place, one) for place, call in enumerate(calls, start=1) for one in call.transactions]
    await connection.execute(
        _ASK,
        [lane.lane for lane in lanes],
        [call.call for call in calls],
        [_written(group) for group in groups],
        [place for place, _ in items],
        [one.id for _, one in items],
        [one.amount for _, one in items],
        abandoned_in_s,
    )


async def abandon(connection: Connection, calls: Sequence[UUID]) -> None:
    """Note that nobody wants these bets any more; the rollbacks are queued beside it."""
    await connection.execute(_ABANDON, calls)


@dataclass(frozen=True, slots=True)
class Ending:
    """What somebody says of a group whose partner was asked."""

    group: HoldGroup
    outcome: Outcome
    distrusted: bool = False
    """The partner refused, and may have taken the money, or a part: it is rolled back to be sure."""


async def end_bets(
    connection: Connection, records: HoldRecords, endings: Sequence[Ending]
) -> tuple[Sequence[Outcome], Sequence[StreamAppend]]:
    """Record and post what came of bets; what the partner may have taken and we do not hold is rolled back.

    Returns what holds of each group, and the appends, which are the transaction's last act.
    """
    recorded, appends = await records.answer(
        connection, [Answer(ending.group, ending.outcome) for ending in endings]
    )
    ends: list[tuple[UUID, str, bool, str | None]] = []
    entries = []
    late = []
    for ending, outcome in zip(endings, recorded, strict=True):
        call = call_of(ending.group)
        if not call.transactions:
            continue
        held = outcome == HELD
        taken = ending.outcome.state != "refused" or ending.distrusted
        state = {"held": "accepted", "refused": "refused", "unknown": "unknown"}[ending.outcome.state]
        ends.append((call.call, state, held, ending.outcome.reason))
        rollback = rollback_of_bet(lane_of(ending.group), call.transactions, posted=False)
        if taken and not held:
            entries.append(rollback)
        elif outcome.state == "unknown":
            late.append(rollback)  # queued by whoever gave it up
    if entries or late:
        await lock_lanes(connection, [entry.lane for entry in entries + late])
        await enqueue(connection, entries)
        await hasten(connection, [entry.call for entry in entries + late])
    if ends:
        await connection.execute(_END, *(list(column) for column in zip(*ends, strict=True)))
    return recorded, appends


async def overdue(connection: Connection, *, limit: int) -> list[HoldGroup]:
    """Groups whose bets are still without an end although whoever asked must have given up."""
    return [_read(row["command"]) for row in await connection.fetch(_OVERDUE, limit)]


def _written(group: HoldGroup) -> str:
    written = asdict(group)
    for item in written["items"]:
        item["hold"] = str(item["hold"])
    return json.dumps(written)


def _read(text: str) -> HoldGroup:
    written = json.loads(text)
    written["account"] = AccountRef(**written["account"])
    written["items"] = tuple(HoldItem(**{**item, "hold": UUID(item["hold"])}) for item in written["items"])
    return HoldGroup(**written)
