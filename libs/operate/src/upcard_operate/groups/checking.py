"""`upcard check`: everything that would need a person, of all services, in one look."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from eventstore.coordination import lease_holders
from eventstore.following import list_parked, list_stopped
from eventstore.postgres import Connection
from messaging.relay.positions import relay_positions
from messaging.relay.relay import lease_of
from messaging.topics import topic_of
from upcard.history.v1 import history_pb2
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard_operate.calling import CALL_S, called
from upcard_operate.groups.rounds import HISTORY
from upcard_operate.options import SERVICES, AsJson
from upcard_operate.output import Misused, Output, Row
from upcard_operate.running import FAILED, connected, run

app = typer.Typer(help="Everything that would need a person, in one look.", invoke_without_command=True)

LAG_MAX: Final = 10_000
_MOST: Final = 100
_PUBLISHING: Final = ("table", "wallet", "bonus")
"""Services with events of their own; history copies theirs."""


@app.callback()
def check(
    lag_max: Annotated[int, typer.Option(min=0, help="Unpublished events that are borne.")] = LAG_MAX,
    as_json: AsJson = False,
) -> None:
    """Relays, consumers, projections, the wallet's invariants, replays; exit status 1 if something is wrong.

    Looks at each database whose UPCARD_<SERVICE>_DSN is set, and asks the history service for replays that
    disagreed where UPCARD_HISTORY_ADDRESS is set.
    """

    async def work() -> bool:
        rows: list[Row] = []
        for service in SERVICES:
            dsn = os.environ.get(f"UPCARD_{service.upper()}_DSN")
            if dsn:
                async with connected(dsn) as connection:
                    rows += await looked_at(connection, service, lag_max)
        if os.environ.get("UPCARD_HISTORY_ADDRESS"):
            rows += await _replays()
        if not rows:
            raise Misused("nothing to look at: set UPCARD_<SERVICE>_DSN, UPCARD_HISTORY_ADDRESS")
        Output(as_json=as_json).rows(rows, "")
        return all(row["right"] for row in rows)

    if not run(work()):
        raise typer.Exit(FAILED)


async def looked_at(connection: Connection, service: str, lag_max: int) -> list[Row]:
    """What there is to say of one service's database."""
    rows: list[Row] = []
    if service in _PUBLISHING:
        topic = topic_of(service)
        lag = sum(one.lag for one in await relay_positions(connection, topic))
        active = any(one.held for one in await lease_holders(connection, lease_of(topic)))
        rows.append(_row(service, "events to be published", lag, right=lag <= lag_max))
        rows.append(_row(service, "an active relay", "yes" if active else "no", right=active))
    parked = await list_parked(connection, limit=_MOST)
    stopped = await list_stopped(connection)
    rows += [
        _row(service, "parked streams", len(parked), right=not parked, detail=[one.stream for one in parked]),
        _row(
            service,
            "stopped followers",
            len(stopped),
            right=not stopped,
            detail=[one.follower for one in stopped],
        ),
    ]
    if service == "wallet":
        found = await connection.fetch(
            "SELECT kind, subject, expected, found FROM wallet.differences ORDER BY since LIMIT $1", _MOST
        )
        detail = [f"{one['kind']} {one['subject']}: {one['found']}, not {one['expected']}" for one in found]
        rows.append(_row(service, "invariants that do not hold", len(found), right=not found, detail=detail))
    return rows


async def _replays() -> list[Row]:
    async with called("history", HISTORY) as channel:
        request = history_pb2.ListDifferencesRequest(limit=_MOST)
        found = await HistoryServiceStub(channel).ListDifferences(request, timeout=CALL_S)
    rounds = [one.round for one in found.replays]
    return [_row("history", "rounds that replayed otherwise", len(rounds), right=not rounds, detail=rounds)]


def _row(service: str, what: str, count: object, *, right: bool, detail: Sequence[str] = ()) -> Row:
    return {"service": service, "what": what, "found": count, "right": right, "detail": ", ".join(detail)}
