"""The view `rounds_view`: rounds, their players, bets in play, windows and refusals, a row for each.

Every row is made of one round's stream alone, so in which order shards come makes no difference. Who dealt,
which shift it was and whose players they were is joined when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eventstore import EventFilter, RecordedEvent
from eventstore.postgres import Connection
from eventstore.projections import Projection
from rules_core.rulesets.shipped import shipped, shipped_ids
from upcard_history.domain.round_changes import RoundChanges
from upcard_history.projections.contents import round_events
from upcard_history.projections.round_rows import Statement, statements

_TABLES: Final = """
CREATE TABLE {schema}.rounds (
    opened_at timestamptz NOT NULL,
    ended_at timestamptz,
    number bigint NOT NULL,
    engine integer NOT NULL,
    corrections integer NOT NULL DEFAULT 0,
    shared boolean NOT NULL,
    dealer_qualified boolean,
    dealer_purchased boolean,
    round text COLLATE "C" NOT NULL PRIMARY KEY,
    table_id text COLLATE "C" NOT NULL,
    ruleset text COLLATE "C" NOT NULL,
    deck text COLLATE "C",
    state text COLLATE "C" NOT NULL DEFAULT 'open',
    reason text COLLATE "C",
    dealer_first text COLLATE "C",
    dealer_final text COLLATE "C",
    dealer_cards text[]
);
CREATE INDEX rounds_opened_idx ON {schema}.rounds (opened_at, round);
CREATE INDEX rounds_table_idx ON {schema}.rounds (table_id, opened_at, round);
CREATE INDEX rounds_number_idx ON {schema}.rounds (table_id, number) WHERE ended_at IS NOT NULL;
CREATE INDEX rounds_ended_idx ON {schema}.rounds (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rounds_going_on_idx ON {schema}.rounds (round) WHERE ended_at IS NULL;

CREATE TABLE {schema}.round_totals (
    players integer NOT NULL,
    staked bigint NOT NULL,
    returned bigint NOT NULL,
    round text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    PRIMARY KEY (round, currency)
);

CREATE TABLE {schema}.players (
    opened_at timestamptz NOT NULL,
    staked bigint NOT NULL DEFAULT 0,
    returned bigint,
    revision integer NOT NULL DEFAULT 0,
    by_platform integer NOT NULL DEFAULT 0,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    boxes jsonb,
    PRIMARY KEY (round, player)
);
CREATE INDEX players_player_idx ON {schema}.players (player, opened_at, round);
CREATE INDEX players_by_platform_idx ON {schema}.players (round) WHERE by_platform > 0;

CREATE TABLE {schema}.bets (
    amount bigint NOT NULL,
    box integer NOT NULL,
    blind boolean NOT NULL,
    hidden boolean NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    wager text COLLATE "C" NOT NULL,
    PRIMARY KEY (round, player, box, wager)
);
CREATE INDEX bets_player_idx ON {schema}.bets (player);

CREATE TABLE {schema}.windows (
    position bigint NOT NULL,
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    open_ms bigint,
    extended_ms bigint NOT NULL,
    box integer,
    round text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    PRIMARY KEY (round, position)
);

CREATE TABLE {schema}.declines (
    number integer NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    PRIMARY KEY (round, player, currency, reason)
);
"""

_SHARED: Final = "SELECT round, shared FROM {schema}.rounds WHERE round = ANY ($1::text[])"


async def _create(connection: Connection, schema: str) -> None:
    await connection.execute(_TABLES.format(schema=schema))


async def _handle(connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
    found = list(round_events(events))
    shared = await _shared(connection, schema, {round_name for round_name, *_ in found})
    changes: dict[str, RoundChanges] = {}
    for round_name, position, recorded_at, event in found:
        one = changes.setdefault(round_name, RoundChanges())
        one.add(event, position, recorded_at, shared=shared.get(round_name, True))
        if one.opened is not None and round_name not in shared:
            shared[round_name] = is_shared(one.opened.ruleset)
    for statement in statements(changes, shared):
        await _run(connection, schema, statement)


async def _shared(connection: Connection, schema: str, rounds: set[str]) -> dict[str, bool]:
    rows = await connection.fetch(_SHARED.format(schema=schema), list(rounds))
    return {row["round"]: row["shared"] for row in rows}


async def _run(connection: Connection, schema: str, statement: Statement) -> None:
    if not statement.rows:
        return
    columns = [list(column) for column in zip(*statement.rows, strict=True)]
    await connection.execute(statement.sql.format(schema=schema), *columns)


def is_shared(ruleset: str) -> bool:
    """Whether its tables are shared. What is not known here is taken to be, since that hides more."""
    return _SHARED_BY_RULESET.get(ruleset, True)


_SHARED_BY_RULESET: Final[Mapping[str, bool]] = {name: shipped(name).shared for name in shipped_ids()}

ROUNDS: Final = Projection(
    "rounds_view", 1, _create, _handle, wanted=EventFilter(categories=frozenset({"round"}))
)
"""Rounds, made of the table service's rounds."""
