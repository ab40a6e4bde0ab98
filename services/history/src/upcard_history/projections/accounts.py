"""The view `accounts_view`: accounts, the lines of their statements with the balances after each.

A line's balances are those after it in its own stream, so they do not depend on any other. `at` never goes
back within an account, whatever the clocks of the wallet's instances say: a period is a run of lines.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from eventstore import EventFilter, RecordedEvent
from eventstore.postgres import Connection
from eventstore.projections import Projection
from rules_core.log.content import Content
from upcard_history.domain.account_changes import VERSIONS, AccountChange, Moved, Opened, account_change
from upcard_history.domain.instants import instant
from upcard_history.projections.contents import EventIsNewer, content_of

_TABLES: Final = """
CREATE TABLE {schema}.accounts (
    opened_at timestamptz NOT NULL,
    account text COLLATE "C" NOT NULL PRIMARY KEY,
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    purse text COLLATE "C" NOT NULL
);
CREATE INDEX accounts_player_idx ON {schema}.accounts (player, currency);

CREATE TABLE {schema}.lines (
    position bigint NOT NULL,
    at timestamptz NOT NULL,
    transaction uuid NOT NULL,
    event uuid NOT NULL,
    cash bigint NOT NULL,
    held bigint NOT NULL,
    owed bigint NOT NULL,
    promo bigint NOT NULL,
    cash_after bigint NOT NULL,
    held_after bigint NOT NULL,
    owed_after bigint NOT NULL,
    revision integer,
    account text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    round text COLLATE "C",
    reason text COLLATE "C",
    table_id text COLLATE "C",
    dealer text COLLATE "C",
    PRIMARY KEY (account, position)
);
CREATE INDEX lines_at_idx ON {schema}.lines (account, at, position);
CREATE INDEX lines_tips_idx ON {schema}.lines (at) WHERE kind = 'tip';
CREATE INDEX lines_jackpots_idx ON {schema}.lines (round) WHERE kind IN ('jackpot', 'jackpot_correction');
"""

_LAST: Final = """
SELECT u.account, l.at, l.cash_after, l.held_after, l.owed_after
  FROM unnest($1::text[]) AS u (account)
 CROSS JOIN LATERAL (SELECT * FROM {schema}.lines AS l WHERE l.account = u.account
                      ORDER BY l.position DESC LIMIT 1) AS l
"""
_OPEN: Final = """
INSERT INTO {schema}.accounts (account, player, operator, currency, purse, opened_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
"""
_LINES: Final = """
INSERT INTO {schema}.lines (account, position, at, kind, transaction, event, cash, held, owed, promo,
                            cash_after, held_after, owed_after, round, revision, reason, table_id, dealer)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::uuid[], $6::uuid[],
                     $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
                     $13::bigint[], $14::text[], $15::integer[], $16::text[], $17::text[], $18::text[])
"""

_STREAM: Final = "account-"
Row = tuple[Any, ...]


@dataclass(slots=True)
class _Standing:
    """An account after its last line."""

    at: dt.datetime | None = None
    cash: int = 0
    held: int = 0
    owed: int = 0


async def _create(connection: Connection, schema: str) -> None:
    await connection.execute(_TABLES.format(schema=schema))


async def _handle(connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
    found = [one for event in events if (one := _change(event)) is not None]
    opened = [
        _account(recorded, content, change)
        for recorded, content, change in found
        if isinstance(change, Opened)
    ]
    await _insert(connection, _OPEN.format(schema=schema), opened)
    moved = {_account_of(recorded) for recorded, _, change in found if isinstance(change, Moved)}
    standing = await _standing(connection, schema, moved)
    lines = [
        _line(recorded, content, change, standing)
        for recorded, content, change in found
        if isinstance(change, Moved)
    ]
    await _insert(connection, _LINES.format(schema=schema), lines)


def _change(event: RecordedEvent) -> tuple[RecordedEvent, Content, AccountChange] | None:
    if not event.stream.startswith(_STREAM):
        return None
    content = content_of(event, VERSIONS)
    if content is None:
        raise EventIsNewer(f"{event.type} is not known to this history: upgrade it")
    change = account_change(content.type, content.payload)
    return None if change is None else (event, content, change)


def _account_of(event: RecordedEvent) -> str:
    return event.stream.removeprefix(_STREAM)


async def _standing(connection: Connection, schema: str, accounts: set[str]) -> dict[str, _Standing]:
    standing = {account: _Standing() for account in accounts}
    if accounts:
        for account, *rest in await connection.fetch(_LAST.format(schema=schema), list(accounts)):
            standing[account] = _Standing(*rest)
    return standing


def _account(event: RecordedEvent, content: Content, change: Opened) -> Row:
    who = (change.player, change.operator, change.currency, change.purse)
    return (_account_of(event), *who, instant(content.recorded_at))


def _line(event: RecordedEvent, content: Content, change: Moved, all_of_them: Mapping[str, _Standing]) -> Row:
    account = _account_of(event)
    standing = all_of_them[account]
    at = instant(content.recorded_at)
    standing.at = at if standing.at is None else max(at, standing.at)
    standing.cash += change.cash
    standing.held += change.held
    standing.owed += change.owed
    return (
        account,
        event.stream_position,
        standing.at,
        change.kind,
        change.transaction,
        UUID(content.event_id),
        change.cash,
        change.held,
        change.owed,
        change.promo,
        standing.cash,
        standing.held,
        standing.owed,
        change.round,
        change.revision,
        change.reason,
        change.table,
        change.dealer,
    )


async def _insert(connection: Connection, sql: str, rows: Sequence[Row]) -> None:
    if rows:
        await connection.execute(sql, *[list(column) for column in zip(*rows, strict=True)])


ACCOUNTS: Final = Projection(
    "accounts_view", 1, _create, _handle, wanted=EventFilter(categories=frozenset({"account"}))
)
"""Accounts and their money, made of the wallet's events."""
