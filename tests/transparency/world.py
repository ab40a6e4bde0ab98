"""A log with events in it, a chainer, a signer, an audit: what tests of the tree do."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore import Appended, Expect, NewEvent
from eventstore.ids import new_event_id
from eventstore.postgres import Pool, PostgresEventStore
from transparency.auditing import Audit, Findings, audit
from transparency.chaining import Step, take_in
from transparency.notes import SignerKey
from transparency.signing import sign_committed

ORIGIN = "upcard.test/table"


def columns_fit(content: bytes, event_id: str, stream: str, event_type: str) -> bool:
    """Of the contents that these tests write."""
    told = json.loads(content) or {}
    return [told.get(key) for key in ("event_id", "stream", "type")] == [event_id, stream, event_type]


def event(stream: str, number: int) -> NewEvent:
    """An event that says of itself what its columns say."""
    event_id: uuid.UUID = new_event_id()
    told = {"event_id": str(event_id), "number": number, "stream": stream, "type": "Counted"}
    return NewEvent(event_id, "Counted", json.dumps(told).encode())


@dataclass
class World:
    """One log and its tree."""

    pool: Pool
    store: PostgresEventStore
    key: SignerKey = field(default_factory=lambda: SignerKey(ORIGIN, Ed25519PrivateKey.generate()))

    async def append(self, stream: str, count: int = 1) -> Appended:
        """Append so many events to a stream."""
        return await self.store.append(
            stream, [event(stream, number) for number in range(count)], expected=Expect.ANY
        )

    async def fill(self, streams: int = 12, each: int = 5) -> None:
        """A log of some size: events of several streams, in several steps of the chainer, all signed."""
        for turn in range(each):
            for number in range(streams):
                await self.append(f"round-t{number}.1", 1 + turn % 2)
            await self.chain()

    async def chain(self, most: int = 10_000) -> Step:
        """One step of the chainer, and of the signer."""
        async with self.pool.acquire() as connection:
            step = await take_in(connection, most=most)
            await sign_committed(connection, ORIGIN, [self.key])
        return step

    async def audit(self, outside: Iterable[bytes] = ()) -> Findings:
        """Look at everything."""
        return await audit(self.pool, Audit(ORIGIN, (self.key.verifier,), outside, columns_fit))
