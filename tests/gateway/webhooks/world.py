"""The gateway's webhooks on a fresh database: events come in, and receivers get what is sent."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from eventstore import Expect, NewEvent
from eventstore.following import OWN, Applier, Page
from eventstore.ids import new_event_id
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from eventstore.private import Keyring
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import Content, content_bytes, parse_content, round_stream
from rules_core.round.codec import payload_of
from rules_core.round.events import RoundEvent
from rules_core.rulesets.shipped import shipped
from tests.gateway.webhooks.receiving import Receiver
from tests.messaging.waiting import until
from upcard_gateway.adapters.postgres import webhook_endpoints
from upcard_gateway.adapters.postgres.people import PostgresPeople
from upcard_gateway.adapters.postgres.webhook_queue import PostgresQueue
from upcard_gateway.adapters.postgres.webhook_rounds import PostgresRoundBook
from upcard_gateway.adapters.webhook_secrets import new_secret, unsealed
from upcard_gateway.adapters.webhook_sender import HttpSender
from upcard_gateway.adapters.webhook_work import WebhookWork
from upcard_gateway.app.webhooks import webhook_handler
from upcard_gateway.domain.webhooks import Policy
from upcard_platform.webhooks import written_secret

KEYRING = Keyring({"k1": bytes(range(32))}, writes_with="k1")
QUICK = Policy(
    timeout_s=5.0,
    claim_margin_s=5.0,
    first_pause_s=0.01,
    longest_pause_s=0.05,
    down_pause_s=0.02,
    down_longest_pause_s=0.05,
)
"""As the shipped policy, but for pauses that tests can wait for."""
WHEN = "2026-01-31T12:00:00.000000Z"
ALL = ("round_ended", "jackpot", "table_state")
SANDBOX_TABLES = frozenset({"sand"})


@dataclass
class HookWorld:
    """A gateway's webhooks."""

    pool: Pool
    store: PostgresEventStore
    receiver: Receiver
    _tasks: list[tuple[asyncio.Task[None], asyncio.Event]] = field(default_factory=list)
    _exits: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def player(self, player: str, operator: str = "op1", partner_id: str | None = None) -> None:
        """A player of an operator, by the operator's own id of them."""
        await self.pool.execute(
            "INSERT INTO gateway.players (player, operator) VALUES ($1, $2)", player, operator
        )
        await self.pool.execute(
            "INSERT INTO gateway.people (player, operator, partner_player, nickname, country, language)"
            " VALUES ($1, $2, $3, 'Nick', 'DE', 'en')",
            player,
            operator,
            partner_id or f"{operator}:{player}",
        )

    async def endpoint(
        self,
        name: str,
        operator: str = "op1",
        types: Sequence[str] = ALL,
        *,
        environment: str = "live",
        url: str | None = None,
    ) -> str:
        """An endpoint of the receiver: `/<name>`, which is its id too."""
        secret = new_secret(KEYRING, name, 1)
        async with self.pool.acquire() as connection:
            await webhook_endpoints.add(
                connection, name, operator, environment, url or self.receiver.url(name), types, secret
            )
        self.receiver.secrets[name] = written_secret(unsealed(KEYRING, name, secret))
        return name

    async def play(
        self, table: str = "t1", number: int = 1, *, players: Sequence[str] = ("p1", "p2"), seed: int = 1
    ) -> RandomTable:
        """Play a random round of a table and keep its events."""
        made = RandomTable(shipped("live-shared@1"), Dice(seed * 1_000 + number), tuple(players), number)
        made.table, made.stream = table, round_stream(table, number)
        made.play()
        await self.append(made.stream, [new_event(data) for data in made.contents])
        return made

    async def tell(self, stream: str, kind: str, payload: Mapping[str, Any], *, version: int = 1) -> str:
        """Keep one event of any stream; its id."""
        made = new_event_id()
        content = Content(
            str(made),
            kind,
            version,
            stream,
            WHEN,
            "c-1",
            None,
            "system",
            os.urandom(16).hex(),
            dict(payload),
        )
        await self.append(stream, [NewEvent(made, kind, content_bytes(content))])
        return str(made)

    async def tell_round(self, name: str, event: RoundEvent) -> str:
        """Keep one event of a round, of the newest version; its id."""
        return await self.tell(f"round-{name}", type(event).__name__, payload_of(event))

    async def append(self, stream: str, events: Sequence[NewEvent]) -> None:
        """Keep events of a stream."""
        await self.store.append(stream, events, expected=Expect.ANY)

    async def follow(self, *, again: bool = False) -> None:
        """Apply everything that came, as the consumers do; again: from the beginning, as a replay does."""
        applier = self.applier("replayed" if again else "gateway")
        heads = await self.store.shard_heads()
        positions = await applier.positions(range(len(heads)))
        for shard, head in enumerate(heads):
            after = positions[shard].position
            while after < head:
                page = await self.store.read_shard(shard, after=after)
                await applier.apply([Page.of_shard(page, after=after)])
                after = page.through
        assert await self.value("SELECT count(*) FROM eventstore.parked_streams") == 0

    def applier(self, follower: str = "gateway") -> Applier:
        """What gives events their effect."""
        handler = webhook_handler(PostgresRoundBook(), PostgresQueue(), SANDBOX_TABLES)
        return Applier(self.pool, follower, OWN, handler)

    async def send(self, policy: Policy = QUICK) -> None:
        """Begin to send, as one more instance does."""
        sender = await self._exits.enter_async_context(HttpSender(inside=True))
        work = WebhookWork(
            self.pool,
            PostgresPeople(self.pool),
            sender,
            KEYRING,
            policy=policy,
            now=lambda: dt.datetime.now(dt.UTC),
            look_every_s=0.02,
        )
        ending = asyncio.Event()
        self._tasks.append((asyncio.create_task(work.run(ending)), ending))

    async def stop(self) -> None:
        """End all that send."""
        for _, ending in self._tasks:
            ending.set()
        async with asyncio.timeout(60):
            await asyncio.gather(*(task for task, _ in self._tasks))
        self._tasks.clear()
        await self._exits.aclose()

    async def closed(self, table: str, after_round: int) -> None:
        """Queue one webhook of a table's subject: it was closed."""
        await self.tell(f"table-{table}", "TableClosed", {"after_round": after_round})
        await self.follow()

    async def quiet(self) -> None:
        """Wait until nothing is queued."""

        async def none() -> bool:
            return await self.count("queued") == 0

        await until(none, what="nothing is queued", timeout_s=60)

    async def count(self, state: str) -> int:
        """How many webhooks are in a state."""
        return int(
            await self.value("SELECT count(*) FROM gateway.webhook_deliveries WHERE state = $1", state)
        )

    async def row(self, webhook: str) -> Any:
        """A webhook's row."""
        return await self.pool.fetchrow(
            "SELECT * FROM gateway.webhook_deliveries WHERE webhook = $1::uuid", UUID(webhook)
        )

    async def value(self, query: str, *arguments: object) -> Any:
        """One value of the database."""
        return await self.pool.fetchval(query, *arguments)


def new_event(data: bytes) -> NewEvent:
    """A recorded content, to be appended; with an id of its own, since rounds of one seed share theirs."""
    content = parse_content(data)
    made = new_event_id()
    return NewEvent(made, content.type, content_bytes(replace(content, event_id=str(made))))


def table_config(name: str = "Table one") -> dict[str, Any]:
    """As much of a table's configuration as is looked at, and something that is not."""
    return {
        "name": name,
        "ruleset": "live-shared@1",
        "limits": [{"currency": "EUR", "chip": 100, "ante": {"min": 100, "max": 10_000}}],
        "chips": [{"currency": "EUR", "values": [100]}],
    }


def hit(*shares: tuple[str, int], round_name: str = "t1.1", part: int = 1, parts: int = 1) -> dict[str, Any]:
    """The payload of a JackpotHit."""
    return {
        "jackpot": "j1",
        "operator": "house",
        "currency": "EUR",
        "round": round_name,
        "kind": "hand",
        "hand": "royal_flush",
        "share_percent": 100,
        "prize": 1_000,
        "stakes": 10,
        "paid": sum(amount for _, amount in shares),
        "pool": 500,
        "shares": [{"player": who, "box": 2, "stake": 5, "amount": amount} for who, amount in shares],
        "part": part,
        "parts": parts,
    }


@contextlib.asynccontextmanager
async def hook_world(dsn: str, *, port: int = 0) -> AsyncIterator[HookWorld]:
    """Webhooks on this database, with a receiver; at a port, if it is to be found again."""
    async with (
        await open_pool(dsn, application_name="webhooks", max_size=8) as pool,
        PostgresEventStore(pool) as store,
        Receiver(port=port) as receiver,
    ):
        world = HookWorld(pool, store, receiver)
        try:
            yield world
        finally:
            receiver.release()
            await world.stop()
