"""Rounds and money as the mirror has them, applied to the views, and the calls that show them."""

from __future__ import annotations

import contextlib
import datetime as dt
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore import Expect, NewEvent
from eventstore.following import OWN, Applier, Page
from eventstore.ids import new_event_id
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import projection_status
from eventstore.projections.runner import handle_in
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import START_US, RandomTable
from rules_core.log.content import Content, content_bytes, parse_content, round_stream
from rules_core.rulesets.shipped import shipped
from servicekit.grpc import (
    Actor,
    ActorKind,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    open_channel,
)
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard_history.adapters.postgres.remembering import RememberingHistory
from upcard_history.adapters.postgres.sums import PostgresSums
from upcard_history.app.replay_job import ReplayJob
from upcard_history.app.replay_queue import (
    FOLLOWER,
    REPLAY_EVENTS,
    ReplayStanding,
    queue_replays,
    replay_standing,
)
from upcard_history.app.standing import SourceStanding, Standing
from upcard_history.entrypoints.grpc import HISTORY_ERRORS, Desk, exposed_history
from upcard_history.entrypoints.grpc.access import HISTORY
from upcard_history.entrypoints.grpc.turns import ExportTurns
from upcard_history.projections import PROJECTIONS

START = dt.datetime.fromtimestamp(START_US / 1_000_000, dt.UTC)
"""When the first round of a table begins."""

KEY = Ed25519PrivateKey.generate()
SIGNER = ContextSigner("gateway-1", KEY)
TIMEOUT_S = 20.0
ROUND_S = 120
"""From the beginning of one round of a table to that of the next."""


def player(name: str) -> Actor:
    """A player."""
    return Actor(ActorKind.PLAYER, name)


def staff(*roles: str) -> Actor:
    """A member of staff."""
    return Actor(ActorKind.STAFF, "s1", frozenset(roles))


OPERATIONS = staff("operations")


def at(seconds: float) -> Timestamp:
    """So long after the first round began."""
    made = Timestamp()
    made.FromDatetime(START + dt.timedelta(seconds=seconds))
    return made


class Unobserved:
    """A `ReplayObserver` that keeps what it is told."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.failures: list[BaseException] = []

    def replayed(self, round_name: str, outcome: str, took_s: float) -> None:  # noqa: ARG002 - as the port has it
        """See `ReplayObserver`."""
        self.outcomes.append(outcome)

    def failed(self, error: BaseException) -> None:
        """See `ReplayObserver`."""
        self.failures.append(error)

    def standing(self, standing: ReplayStanding) -> None:
        """See `ReplayObserver`."""


@dataclass
class World:
    """A history, what it was told, and its calls."""

    pool: Pool
    store: PostgresEventStore
    stub: HistoryServiceStub
    turns: ExportTurns
    rounds: dict[str, RandomTable] = field(default_factory=dict)
    replays: Unobserved = field(default_factory=Unobserved)

    async def play(
        self,
        ruleset: str = "live-shared@1",
        *,
        table: str = "t1",
        number: int = 1,
        players: Sequence[str] = ("p1", "p2"),
        seed: int | None = None,
        events: int | None = None,
    ) -> RandomTable:
        """Play a random round and keep its first `events` events; a number begins ROUND_S after the last."""
        dice = Dice(hash_of(table, number) if seed is None else seed)
        made = RandomTable(shipped(ruleset), dice, tuple(players), number)
        made.table = table
        made.stream = round_stream(table, number)
        made._clock_us = START_US + (number - 1) * ROUND_S * 1_000_000
        made.play()
        self.rounds[f"{table}.{number}"] = made
        await self.keep(made, 0, events)
        return made

    async def keep(self, made: RandomTable, after: int, through: int | None) -> None:
        """Keep some more events of a round."""
        contents = made.contents[after:through]
        new = [_event(content) for content in contents]
        await self.store.append(made.stream, new, expected=after or Expect.NONE)

    async def tell(self, stream: str, *events: tuple[str, float, Mapping[str, Any]]) -> None:
        """Keep events of another stream: type, seconds after the beginning, payload."""
        contents = [
            Content(
                str(new_event_id()),
                kind,
                1,
                stream,
                at(seconds).ToDatetime(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "c-1",
                None,
                "system",
                "00" * 16,
                dict(payload),
            )
            for kind, seconds, payload in events
        ]
        new = [_event(content_bytes(content)) for content in contents]
        await self.store.append(stream, new, expected=Expect.ANY)

    async def account(self, name: str, *events: tuple[str, float, Mapping[str, Any]]) -> str:
        """An account in euros with what happened to its money; its id."""
        account = f"{name}-EUR"
        opened = {
            "account": account,
            "player": name,
            "operator": "op1",
            "currency": "EUR",
            "purse": "internal",
        }
        await self.tell(f"account-{account}", ("AccountOpened", 0, opened), *events)
        return account

    async def apply(self) -> None:
        """Bring all views up to date, and note what ended."""
        for projection in PROJECTIONS:
            await self._follow(
                Applier(self.pool, projection.name, OWN, partial(handle_in, projection, projection.name)),
                projection.wanted,
            )
        await self._follow(Applier(self.pool, FOLLOWER, OWN, queue_replays), REPLAY_EVENTS)

    async def replay(self) -> None:
        """Replay what is due."""
        job = ReplayJob(self.pool, self.store, self.replays)
        while await job.replay_next():
            pass

    async def _follow(self, applier: Applier, wanted: Any) -> None:
        heads = await self.store.shard_heads()
        positions = await applier.positions(range(len(heads)))
        for shard, head in enumerate(heads):
            after = positions[shard].position
            while after < head:
                page = await self.store.read_shard(shard, after=after, wanted=wanted)
                await applier.apply([Page.of_shard(page, after=after)])
                after = page.through
        async with self.pool.acquire() as connection:
            parked = await connection.fetch("SELECT stream, error FROM eventstore.parked_streams")
        assert not parked, parked


def hash_of(table: str, number: int) -> int:
    """A seed of its own for each round."""
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{table}.{number}").int % 2**31


def money(amount: int) -> dict[str, Any]:
    """The payload of a deposit or withdrawal."""
    return {"transaction": str(uuid.uuid4()), "amount": amount}


@contextlib.asynccontextmanager
async def served(pool: Pool, store: PostgresEventStore) -> AsyncIterator[World]:
    """A world whose calls are served, over gRPC."""
    turns = ExportTurns(4)

    async def standing() -> Standing:
        async with pool.acquire() as connection:
            views = await projection_status(connection)
            replays = await replay_standing(connection)
        return Standing((SourceStanding("table", True, 7, 1.5, 0),), views, replays)  # noqa: FBT003 - in its order

    verifier = ContextVerifier(
        "history",
        [TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))],
    )
    settings = ServerSettings(grace_s=0.2)
    exposed = exposed_history(Desk(RememberingHistory(pool, store), PostgresSums(pool), turns, standing))
    async with GrpcServer(settings, [exposed], verifier=verifier, known_errors=HISTORY_ERRORS) as server:
        channel = open_channel(server.address, audience="history", services=[HISTORY], signer=SIGNER)
        async with channel:
            yield World(pool, store, HistoryServiceStub(channel), turns)


def _event(content: bytes) -> NewEvent:
    parsed = parse_content(content)
    return NewEvent(uuid.UUID(parsed.event_id), parsed.type, content)
