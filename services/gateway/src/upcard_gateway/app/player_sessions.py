"""What a player's own connection does with their session, each in a transaction of its own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eventstore import Appended
from eventstore.postgres import Pool, append_in_transaction
from upcard_gateway.app.launch_tokens import hash_of, new_session_token
from upcard_gateway.app.people import People, Player
from upcard_gateway.app.sessions import Sessions, SessionTables, SessionUnknown
from upcard_gateway.domain.sessions import EndReason, Session

__all__ = ["PlayerSessions", "Playing"]


@dataclass(frozen=True, slots=True)
class Playing:
    """A session that is live, with whose it is."""

    session: Session
    player: Player


class PlayerSessions:
    """Redeeming a token, finding a session again, signs of the player, leaving."""

    def __init__(
        self,
        pool: Pool,
        announce: Callable[[Sequence[Appended]], None],
        sessions: Sessions,
        tables: SessionTables,
        people: People,
    ) -> None:
        self._pool = pool
        self._announce = announce
        self._sessions = sessions
        self._tables = tables
        self._people = people

    async def redeem(self, launch_token: str, now: dt.datetime) -> tuple[Playing, str]:
        """Redeem a launch token, once: the session, and the session token that shows it from now on.

        Raises SessionUnknown for whatever opens nothing: unknown, used, too old.
        """
        secret = new_session_token()
        async with self._pool.acquire() as connection, connection.transaction():
            session, appends = await self._sessions.redeem(
                connection, hash_of(launch_token), hash_of(secret), now
            )
            appended = await append_in_transaction(connection, appends)
        self._announce(appended)
        return await self._playing(session), secret

    async def of_token(self, session_token: str, now: dt.datetime) -> Playing:
        """The live session of a session token. Raises SessionUnknown, also for one that has ended."""
        async with self._pool.acquire() as connection:
            session = await self._tables.by_secret(connection, hash_of(session_token))
        if session is None or session.at(now).ended_at is not None:
            raise SessionUnknown
        return await self._playing(session)

    async def seen(self, session: str, now: dt.datetime) -> Session:
        """There is a sign of the player: to be told every few seconds at the most.

        Raises SessionUnknown, SessionOver.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            return await self._sessions.seen(connection, session, now)

    async def end(self, session: str, now: dt.datetime, reason: EndReason = "player") -> Session:
        """End it; one that has ended stays as it is. Raises SessionUnknown."""
        async with self._pool.acquire() as connection, connection.transaction():
            ended, appends = await self._sessions.end(connection, session, now, reason)
            appended = await append_in_transaction(connection, appends) if appends else ()
        if appended:
            self._announce(appended)
        return ended

    async def end_due(self, now: dt.datetime) -> int:
        """End sessions that are over, a bounded number of them: how many there were."""
        async with self._pool.acquire() as connection, connection.transaction():
            ended, appends = await self._sessions.end_due(connection, now)
            appended = await append_in_transaction(connection, appends) if appends else ()
        if appended:
            self._announce(appended)
        return ended

    async def _playing(self, session: Session) -> Playing:
        known = await self._people.known([session.player])
        if session.player not in known:
            raise SessionUnknown
        return Playing(session, known[session.player])
