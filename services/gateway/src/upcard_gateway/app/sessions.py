"""What is done with players' sessions: launching, redeeming, keeping alive, ending.

Every use case works in the caller's transaction, and gives the appends of it, which come last there. Whoever
changes a player's sessions locks the player first, so there is one order of all that happens to them.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from eventstore import NewEvent, StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import fit_correlation_id
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.sessions import (
    EVENT_TYPES,
    EndReason,
    Environment,
    Limits,
    PlayerErased,
    Session,
    SessionEnded,
    SessionEvent,
    SessionOpened,
    SessionRedeemed,
    WalletKind,
    session_stream,
)

__all__ = [
    "SWEPT_MAX",
    "Opening",
    "SessionOver",
    "SessionTables",
    "SessionTimes",
    "SessionUnknown",
    "Sessions",
    "new_id",
]

SWEPT_MAX: Final = 200
"""Most sessions that one transaction ends."""
PLATFORM: Final = "platform"
SYSTEM: Final = "system"

Appends = Sequence[StreamAppend]


class SessionUnknown(Exception):
    """There is no such session, or it is somebody else's; or the token opens nothing."""


class SessionOver(Exception):
    """The session has ended, or is due to. Nothing was changed."""

    def __init__(self, session: Session) -> None:
        self.session = session
        super().__init__(f"session {session.id} has ended: {session.end_reason}")


@dataclass(frozen=True, slots=True)
class SessionTimes:
    """How long sessions last, in seconds."""

    launch_s: int
    """For how long a launch token is good."""
    idle_s: int
    """After so long without a sign of the player it ends."""
    longest_s: int
    """It ends after so long whatever happens."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A session that a platform wants for one of its players."""

    session: str
    """Its id, new and random."""
    launch_hash: bytes
    """SHA-256 of the launch token."""
    player: str
    operator: str
    account: str
    currency: str
    environment: Environment
    wallet: WalletKind
    limits: Limits
    duration_s: int | None = None
    """Longest time that the platform allows; None: the longest that there is."""
    table: str | None = None


class SessionTables(Protocol):
    """Where sessions are kept as they stand; each method in the caller's transaction."""

    async def lock_players(
        self, connection: Connection, players: Sequence[str], *, wait: bool = True
    ) -> frozenset[str]:
        """Lock these players' sessions; without waiting those that nobody has locked. Those it has locked."""
        ...

    async def session(self, connection: Connection, session: str) -> Session | None:
        """A session by its id."""
        ...

    async def by_launch(self, connection: Connection, launch_hash: bytes) -> Session | None:
        """A session by the hash of its launch token."""
        ...

    async def by_secret(self, connection: Connection, secret_hash: bytes) -> Session | None:
        """A session by the hash of its session token."""
        ...

    async def live(self, connection: Connection, player: str) -> Session | None:
        """The player's session that was not ended."""
        ...

    async def latest(self, connection: Connection, player: str) -> Session | None:
        """The player's latest session, ended or not."""
        ...

    async def of_player(
        self, connection: Connection, player: str, after: Session | None, limit: int
    ) -> Sequence[Session]:
        """The player's sessions, the newest first, those before one."""
        ...

    async def due(
        self, connection: Connection, now: dt.datetime, limit: int, players: Sequence[str] | None = None
    ) -> Sequence[Session]:
        """Sessions that are due to end and were not ended, the longest due first; of these players alone."""
        ...

    async def insert(self, connection: Connection, session: Session, launch_hash: bytes) -> None:
        """A new session."""
        ...

    async def store(
        self, connection: Connection, sessions: Sequence[Session], secret_hash: bytes | None = None
    ) -> None:
        """Sessions as they are now; `secret_hash` is that of the one which is redeemed."""
        ...


class Sessions:
    """The use cases."""

    def __init__(self, tables: SessionTables, times: SessionTimes, recorder: Recorder | None = None) -> None:
        self._tables = tables
        self._times = times
        self._recorder = recorder or Recorder(EVENT_TYPES)

    async def open(
        self, connection: Connection, opening: Opening, now: dt.datetime
    ) -> tuple[Session, Appends]:
        """Open a session; the player's former one ends, since nobody plays twice at a time."""
        await self._tables.lock_players(connection, [opening.player])
        appends: list[StreamAppend] = []
        former = await self._tables.live(connection, opening.player)
        if former is not None:
            _, ending = await self._end(connection, former, now, "replaced", PLATFORM)
            appends.append(ending)
        longest_s = min(self._times.longest_s, opening.duration_s or self._times.longest_s)
        session = Session(
            id=opening.session,
            player=opening.player,
            operator=opening.operator,
            account=opening.account,
            currency=opening.currency,
            environment=opening.environment,
            wallet=opening.wallet,
            table=opening.table,
            limits=opening.limits,
            opened_at=now,
            launch_until=now + dt.timedelta(seconds=self._times.launch_s),
            ends_by=now + dt.timedelta(seconds=longest_s),
            idle_s=self._times.idle_s,
            seen_at=now,
            events=1,
        )
        await self._tables.insert(connection, session, opening.launch_hash)
        opened = self._event(session, _opened(session), PLATFORM)
        appends.append(StreamAppend(session_stream(session.id), 0, [opened]))
        return session, appends

    async def redeem(
        self, connection: Connection, launch_hash: bytes, secret_hash: bytes, now: dt.datetime
    ) -> tuple[Session, Appends]:
        """Redeem a launch token: once, whoever comes at the same time.

        Raises SessionUnknown: there is no such token, it was redeemed, or its time is over.
        """
        found = await self._tables.by_launch(connection, launch_hash)
        if found is None:
            raise SessionUnknown
        session = await self._locked(connection, found)
        if session.redeemed_at is not None or session.at(now).ended_at is not None:
            raise SessionUnknown
        redeemed = replace(session.seen(now), redeemed_at=now, events=session.events + 1)
        await self._tables.store(connection, [redeemed], secret_hash)
        event = self._event(redeemed, SessionRedeemed(redeemed.id), f"player:{redeemed.player}")
        return redeemed, [StreamAppend(session_stream(redeemed.id), session.events, [event])]

    async def seen(
        self, connection: Connection, session_id: str, now: dt.datetime, *, operator: str | None = None
    ) -> Session:
        """There is a sign of the player. `operator`: who asks; None: we ourselves.

        Raises SessionUnknown, SessionOver.
        """
        session = await self._locked(connection, await self.found(connection, session_id, operator=operator))
        over = session.at(now)
        if over.ended_at is not None:
            raise SessionOver(over)
        seen = session.seen(now)
        await self._tables.store(connection, [seen])
        return seen

    async def end(
        self,
        connection: Connection,
        session_id: str,
        now: dt.datetime,
        reason: EndReason,
        *,
        operator: str | None = None,
    ) -> tuple[Session, Appends]:
        """End a session; one that has ended stays as it is. Raises SessionUnknown."""
        session = await self._locked(connection, await self.found(connection, session_id, operator=operator))
        if session.ended_at is not None:
            return session, ()
        actor = f"player:{session.player}" if reason == "player" else PLATFORM
        ended, append = await self._end(connection, session, now, reason, actor)
        return ended, [append]

    async def end_live(
        self, connection: Connection, player: str, now: dt.datetime, reason: EndReason
    ) -> tuple[Session | None, Appends]:
        """End the player's session if there is one. The player's latest session, if there ever was one."""
        await self._tables.lock_players(connection, [player])
        live = await self._tables.live(connection, player)
        if live is not None:
            ended, append = await self._end(connection, live, now, reason, PLATFORM)
            return ended, [append]
        return await self._tables.latest(connection, player), ()

    async def erased(self, connection: Connection, player: str, operator: str, now: dt.datetime) -> Appends:
        """Note that a player was erased; the live session ends."""
        latest, appends = await self.end_live(connection, player, now, "player_erased")
        if latest is None:
            return appends
        event = self._event(latest, PlayerErased(player, operator), PLATFORM)
        stream = session_stream(latest.id)
        await self._tables.store(connection, [replace(latest, events=latest.events + 1)])
        if not appends:
            return [StreamAppend(stream, latest.events, [event])]
        (ending,) = appends
        return [StreamAppend(stream, ending.expected, [*ending.events, event])]

    async def end_due(self, connection: Connection, now: dt.datetime) -> tuple[int, Appends]:
        """End sessions that are due, at most `SWEPT_MAX`; those that somebody is busy with come next time."""
        found = await self._tables.due(connection, now, SWEPT_MAX)
        free = await self._tables.lock_players(connection, sorted({one.player for one in found}), wait=False)
        if not free:
            return 0, ()
        due = await self._tables.due(connection, now, SWEPT_MAX, sorted(free))
        ended = [session.at(now) for session in due]
        await self._tables.store(connection, [replace(one, events=one.events + 1) for one in ended])
        return len(ended), [self._ending(one, SYSTEM) for one in ended]

    async def found(self, connection: Connection, session_id: str, *, operator: str | None = None) -> Session:
        """A session by its id, of this operator. Raises SessionUnknown."""
        session = await self._tables.session(connection, session_id)
        if session is None or operator not in (None, session.operator):
            raise SessionUnknown
        return session

    async def _locked(self, connection: Connection, found: Session) -> Session:
        """The same session once nobody else can change it."""
        await self._tables.lock_players(connection, [found.player])
        session = await self._tables.session(connection, found.id)
        if session is None:
            raise RuntimeError("sessions are never removed")
        return session

    async def _end(
        self, connection: Connection, session: Session, now: dt.datetime, reason: EndReason, actor: str
    ) -> tuple[Session, StreamAppend]:
        """End it now for this reason, unless it was over before and only nobody had written that yet."""
        over = session.at(now)
        if over.ended_at is not None:
            ended, actor = over, SYSTEM
        else:
            ended = session.ended(now, reason)
        stored = replace(ended, events=ended.events + 1)
        await self._tables.store(connection, [stored])
        return stored, self._ending(ended, actor)

    def _ending(self, ended: Session, actor: str) -> StreamAppend:
        """The append that tells of an ended session; `ended.events` are those before it."""
        if ended.end_reason is None:
            raise ValueError("the session has not ended")
        event = self._event(ended, SessionEnded(ended.id, ended.end_reason), actor)
        return StreamAppend(session_stream(ended.id), ended.events, [event])

    def _event(self, session: Session, event: SessionEvent, actor: str) -> NewEvent:
        return self._recorder.event(
            session_stream(session.id), event, actor=actor, correlation_id=fit_correlation_id()
        )


def new_id() -> str:
    """A random opaque id: of a player, an account, a session."""
    return secrets.token_hex(16)


def _opened(session: Session) -> SessionOpened:
    return SessionOpened(
        session=session.id,
        player=session.player,
        operator=session.operator,
        account=session.account,
        currency=session.currency,
        environment=session.environment,
        wallet=session.wallet,
        launch_until=_text(session.launch_until),
        ends_by=_text(session.ends_by),
        idle_s=session.idle_s,
        table=session.table,
        wager_max=session.limits.wager_max,
        round_max=session.limits.round_max,
    )


def _text(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
