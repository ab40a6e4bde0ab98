"""A history on a real database, fed and asked in few words."""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from eventstore import NewEvent
from eventstore.following import OWN, Applier, Page
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from eventstore.projections import ALL_SHARDS, Projection
from eventstore.projections.runner import handle_in
from rules_core.command_line.dice import Dice
from rules_core.log.content import Content, content_bytes
from rules_core.round.times import to_epoch_us
from tests.history.rounds import Round, new_event
from upcard_history.adapters.postgres.history import PostgresHistory
from upcard_history.app.replay_queue import FOLLOWER, REPLAY_EVENTS, queue_replays
from upcard_history.projections import PROJECTIONS
from upcard_history.projections.comparing import Comparison, compare_projection

PASSWORD = "pass"  # noqa: S105 - of a role that lives as long as the tests


class World:
    """The history, and whoever feeds it. What the service does it does with the service's rights."""

    def __init__(self, pool: Pool, store: PostgresEventStore, owner: Pool) -> None:
        self.pool = pool
        self.store = store
        self.owner = owner
        self.history = PostgresHistory(pool, store)
        self._dice = Dice(7)

    async def keep(self, *rounds: Round) -> None:
        """Put rounds into the mirror, whole."""
        for one in rounds:
            await self.append(one.stream, one.new_events())

    async def append(self, stream: str, events: Sequence[NewEvent]) -> None:
        """Put events into the mirror."""
        if not events:
            return
        head = await self.store.stream_head(stream)
        await self.store.append(stream, events, expected=head.position)

    async def tell(self, stream: str, kind: str, at: str, payload: Mapping[str, Any]) -> None:
        """One event of any stream."""
        event_id = self._dice.uuid7(to_epoch_us(at))
        content = Content(event_id, kind, 1, stream, at, "c-1", None, "system", "00" * 16, dict(payload))
        await self.append(stream, [new_event(content_bytes(content))])

    async def catch_up(self, *, seed: int | None = None, page: int = 500) -> None:
        """Apply everything to all views and to the replay queue; with a seed, shards in a random order."""
        for projection in PROJECTIONS:
            await self.apply(projection, seed=seed, page=page)
        applier = Applier(self.pool, FOLLOWER, OWN, queue_replays)
        await _drain(self.store, applier, REPLAY_EVENTS, seed, page)

    async def apply(self, projection: Projection, *, seed: int | None = None, page: int = 500) -> None:
        """Apply everything to one view."""

        async def handle(connection: Any, events: Any) -> None:
            await handle_in(projection, projection.name, connection, events)

        applier = Applier(self.pool, projection.name, OWN, handle)
        await _drain(self.store, applier, projection.wanted, seed, page)
        assert not await self.value("SELECT count(*) FROM eventstore.parked_streams")

    async def compare(self) -> list[Comparison]:
        """Build every view anew and compare."""
        async with PostgresEventStore(self.owner) as reader:
            return [await compare_projection(reader, self.owner, one) for one in PROJECTIONS]

    async def content(self) -> dict[str, list[str]]:
        """All rows of all views, as texts, sorted."""
        found: dict[str, list[str]] = {}
        for projection in PROJECTIONS:
            tables = await self.pool.fetch(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = $1", projection.name
            )
            for (table,) in tables:
                name = f"{projection.name}.{table}"
                rows = await self.pool.fetch(f"SELECT to_jsonb(x)::text FROM {name} AS x")  # noqa: S608 - a table of ours
                found[name] = sorted(row[0] for row in rows)
        return found

    async def value(self, query: str, *arguments: object) -> Any:
        """One value of the database."""
        return await self.pool.fetchval(query, *arguments)


async def _drain(
    store: PostgresEventStore, applier: Applier, wanted: Any, seed: int | None, page: int
) -> None:
    shards: list[int] = list(ALL_SHARDS)
    heads = await store.shard_heads()
    found = await applier.positions(shards)
    done = {shard: one.position for shard, one in found.items()}
    chooser = random.Random(seed) if seed is not None else None
    left = [shard for shard in shards if done[shard] < heads[shard]]
    while left:
        shard = left[0] if chooser is None else chooser.choice(left)
        part = await store.read_shard(shard, after=done[shard], limit=page, wanted=wanted)
        await applier.apply([Page.of_shard(part, after=done[shard])])
        done[shard] = part.through
        left = [shard for shard in left if done[shard] < heads[shard]]


@contextlib.asynccontextmanager
async def open_world(service_dsn: str, owner_dsn: str) -> AsyncIterator[World]:
    """A history in this database."""
    async with (
        await open_pool(service_dsn, application_name="history", max_size=8) as pool,
        await open_pool(owner_dsn, application_name="owner", max_size=4) as owner,
        PostgresEventStore(pool) as store,
    ):
        yield World(pool, store, owner)
