"""What an id is, looked up in the gateway's own tables."""

from __future__ import annotations

import contextlib
import datetime as dt
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from eventstore.postgres import Connection

__all__ = ["Found", "PlayerKnown", "SessionKnown", "found_by_id", "operators_of", "player_known"]

_MOST: Final = 20

# One row a thing that is called so, each by an index. A partner's own id of a player is looked for as it is.
_BY_ID: Final = """
SELECT * FROM (
    SELECT 'player' AS kind, player AS id, operator AS beside FROM gateway.players WHERE player = $1
    UNION ALL
    SELECT 'session', session, player FROM gateway.sessions WHERE session = $1
    UNION ALL
    SELECT 'account', account, player FROM gateway.accounts WHERE account = $1
    UNION ALL
    SELECT 'operator', operator, '' FROM gateway.operators WHERE operator = $1
    UNION ALL
    SELECT 'staff', staff, '' FROM gateway.staff WHERE staff = $1
    UNION ALL
    SELECT 'partner_player', people.player, people.operator
      FROM gateway.operators AS operators
      JOIN gateway.people AS people ON people.operator = operators.operator AND people.partner_player = $1
) AS found LIMIT $2
"""
_BY_UUID: Final = """
SELECT 'significant' AS kind, event_id::text AS id, kind AS beside FROM gateway.significant_events
 WHERE event_id = $1
UNION ALL
SELECT 'webhook', webhook::text, operator FROM gateway.webhook_deliveries WHERE webhook = $1
UNION ALL
SELECT 'correction', request_id, table_id || '.' || number FROM gateway.floor_corrections
 WHERE resettlement = $1
"""
_PLAYER: Final = """
SELECT players.player, players.operator, players.known_since, people.nickname, people.country,
       people.language, people.partner_player
  FROM gateway.players AS players LEFT JOIN gateway.people AS people USING (player)
 WHERE players.player = $1
"""
_SESSIONS: Final = """
SELECT session, opened_at, ended_at, end_reason, currency, environment, wallet, table_id
  FROM gateway.sessions WHERE player = $1 ORDER BY opened_at DESC, session DESC LIMIT $2
"""
_OPERATORS: Final = "SELECT DISTINCT operator FROM gateway.players WHERE player = ANY ($1::text[]) ORDER BY 1"


@dataclass(frozen=True, slots=True)
class Found:
    """Something that is called as was asked. `kind` has its name in the English of the floor."""

    kind: str
    id: str
    beside: str
    """What else names it: its player, operator or kind."""


@dataclass(frozen=True, slots=True)
class SessionKnown:
    """A session of a player."""

    session: str
    opened_at: dt.datetime
    ended_at: dt.datetime | None
    end_reason: str
    currency: str
    environment: str
    wallet: str
    table: str


@dataclass(frozen=True, slots=True)
class PlayerKnown:
    """A player, as operators told of them; the texts are empty where the person was erased."""

    player: str
    operator: str
    known_since: dt.datetime
    nickname: str
    country: str
    language: str
    partner_player: str
    sessions: tuple[SessionKnown, ...]


async def found_by_id(connection: Connection, asked: str) -> list[Found]:
    """What is called so."""
    rows = list(await connection.fetch(_BY_ID, asked, _MOST))
    with contextlib.suppress(ValueError):  # not every id is a UUID
        rows += await connection.fetch(_BY_UUID, UUID(asked))
    return [Found(row["kind"], row["id"], row["beside"]) for row in rows]


async def player_known(connection: Connection, player: str) -> PlayerKnown | None:
    """A player with the latest sessions; None: no operator sent one of this id."""
    row = await connection.fetchrow(_PLAYER, player)
    if row is None:
        return None
    sessions = tuple(
        SessionKnown(
            one["session"],
            one["opened_at"],
            one["ended_at"],
            one["end_reason"] or "",
            one["currency"],
            one["environment"],
            one["wallet"],
            one["table_id"] or "",
        )
        for one in await connection.fetch(_SESSIONS, player, _MOST)
    )
    return PlayerKnown(
        row["player"],
        row["operator"],
        row["known_since"],
        row["nickname"] or "",
        row["country"] or "",
        row["language"] or "",
        row["partner_player"] or "",
        sessions,
    )


async def operators_of(connection: Connection, players: list[str]) -> list[str]:
    """The operators of these players."""
    return [row["operator"] for row in await connection.fetch(_OPERATORS, players)]
