"""Sessions as the platform API shows them. What is stored of an answer has opaque ids alone."""

from __future__ import annotations

import datetime as dt
import json

from google.protobuf import timestamp_pb2

from upcard.history.v1 import history_pb2 as pb
from upcard_gateway.domain.sessions import Session
from upcard_platform.models import sessions as models
from upcard_platform.models.fields import moment_text

__all__ = ["launched", "period_of", "reality_of", "shown", "stored_launch", "stored_session"]

_TICK = dt.timedelta(microseconds=1)


def stored_launch(session: Session, key_id: str) -> bytes:
    """What is kept of the answer to a launch: neither the token nor who it is, but what makes them again."""
    kept = {
        "session": session.id,
        "account": session.account,
        "player_ref": session.player,
        "launch_until": moment_text(session.launch_until),
        "ends_by": moment_text(session.ends_by),
        "key": key_id,
    }
    return json.dumps(kept).encode()


def launched(kept: dict[str, str], player: str, token: str, page: str) -> models.Launched:
    """The answer to a launch. The token stands behind `#`, so that no server on the way writes it down."""
    told = {name: value for name, value in kept.items() if name != "key"}
    return models.Launched.model_validate(
        {**told, "player": player, "launch_token": token, "launch_url": f"{page}#launch_token={token}"}
    )


def shown(session: Session, player: str | None, now: dt.datetime) -> models.Session:
    """A session at a moment; `player` is the platform's own id, None when the player was erased."""
    at = session.at(now)
    return models.Session(
        session=at.id,
        player=player,
        account=at.account,
        currency=at.currency,
        state=at.state,
        opened_at=at.opened_at,
        redeemed_at=at.redeemed_at,
        seen_at=at.seen_at,
        due_at=at.due[0],
        ends_by=at.ends_by,
        ended_at=at.ended_at,
        end_reason=at.end_reason,
        table=at.table,
    )


def stored_session(session: Session, now: dt.datetime) -> bytes:
    """What is kept of an answer that shows a session."""
    return shown(session, None, now).model_dump_json().encode()


def period_of(session: Session, now: dt.datetime) -> pb.GetPlayerTotalsRequest:
    """What history is asked for a reality check: rounds that were opened in the session."""
    until = max(_end_of(session, now), session.opened_at + _TICK)
    return pb.GetPlayerTotalsRequest(since=_timestamp(session.opened_at), until=_timestamp(until))


def reality_of(
    session: Session, player: str | None, totals: pb.PlayerTotals, now: dt.datetime
) -> models.RealityCheck:
    """What a player is told at intervals."""
    until = _end_of(session, now)
    began = until if session.redeemed_at is None else session.redeemed_at
    found = next((one for one in totals.totals if one.currency == session.currency), pb.PlayerTotal())
    return models.RealityCheck(
        session=session.id,
        player=player,
        currency=session.currency,
        state=session.at(now).state,
        since=session.opened_at,
        until=until,
        duration_s=max(0, int((until - began).total_seconds())),
        rounds=found.rounds,
        won=found.won,
        staked=found.staked,
        returned=found.returned,
        net=found.net,
        open_rounds=found.open,
    )


def _end_of(session: Session, now: dt.datetime) -> dt.datetime:
    return session.at(now).ended_at or now


def _timestamp(moment: dt.datetime) -> timestamp_pb2.Timestamp:
    made = timestamp_pb2.Timestamp()
    made.FromDatetime(moment.astimezone(dt.UTC))
    return made
