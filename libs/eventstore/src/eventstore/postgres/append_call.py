"""One call of the database function `eventstore.append`: many requests there, a verdict for each back."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import asyncpg

from eventstore.checking import check_appends
from eventstore.errors import EventIdReused, EventStoreError, InvalidAppend, VersionConflict
from eventstore.events import Appended, Expect, Expected, StreamAppend
from eventstore.postgres.connections import Connection
from eventstore.private import Keyring
from eventstore.streams import shard_of

_CALL = "SELECT * FROM eventstore.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"

_EXPECTED: Final = {Expect.NONE: 0, Expect.EXISTS: -1, Expect.ANY: -2}

_, _STORED, _ALREADY, _CONFLICT, _REUSED, _BUSY = range(6)

Request = Sequence[StreamAppend]
"""What is stored whole or not at all."""


@dataclass(frozen=True, slots=True)
class Busy:
    """Not tried: this shard was being appended to by someone else."""

    shard: int


Verdict = tuple[Appended, ...] | EventStoreError | Busy


async def append_requests(
    connection: Connection,
    requests: Sequence[Request],
    keyring: Keyring | None,
    *,
    wait_for_shards: bool,
    look_up_all: bool = False,
) -> list[Verdict]:
    """Store what can be stored of checked requests, in one round trip; one verdict each, in their order.

    Outside a transaction this is a transaction of its own: what it returns is durable. The requests must
    not share event ids. Raises what asyncpg raises; after an error of the server nothing at all was stored.
    """
    legs: list[StreamAppend] = []
    leg_requests: list[int] = []
    for number, request in enumerate(requests):
        legs.extend(request)
        leg_requests.extend([number] * len(request))
    event_legs: list[int] | None = None
    if len(legs) > 1:
        event_legs = []
        for number, leg in enumerate(legs, start=1):
            event_legs.extend([number] * len(leg.events))
    events = [event for leg in legs for event in leg.events]
    key_ids, ciphertexts = _private_parts(legs, keyring)
    rows = await connection.fetch(
        _CALL,
        leg_requests,
        [leg.stream for leg in legs],
        [_number(leg.expected) for leg in legs],
        [len(leg.events) for leg in legs],
        event_legs,
        [event.event_id for event in events],
        [event.type for event in events],
        [event.content for event in events],
        [sha256(event.content).digest() for event in events],
        key_ids,
        ciphertexts,
        wait_for_shards,
        look_up_all,
    )
    verdicts: list[Verdict] = []
    place = 0
    for request in requests:
        end = place + len(request)
        verdicts.append(_verdict(request, rows[place:end]))
        place = end
    return verdicts


async def append_in_transaction(
    connection: Connection, appends: Sequence[StreamAppend], keyring: Keyring | None = None
) -> tuple[Appended, ...]:
    """Store events as a part of the caller's own transaction; they are stored when that commits.

    And only then.

    Holds the streams' shards up to the commit, so it should be the transaction's last act. Raises
    InvalidAppend, VersionConflict, EventIdReused (the transaction stays usable) or what asyncpg raises.
    """
    check_appends(appends)
    (verdict,) = await append_requests(connection, [appends], keyring, wait_for_shards=True)
    if isinstance(verdict, EventStoreError):
        raise verdict
    assert not isinstance(verdict, Busy), "it waited for the shards"  # noqa: S101 - an invariant of the call
    return verdict


def _number(expected: Expected) -> int:
    return expected if isinstance(expected, int) else _EXPECTED[expected]


def _private_parts(
    legs: Sequence[StreamAppend], keyring: Keyring | None
) -> tuple[list[str | None] | None, list[bytes | None] | None]:
    if not any(event.private is not None for leg in legs for event in leg.events):
        return None, None
    if keyring is None:
        raise InvalidAppend("a private part needs a keyring, and this store has none")
    key_ids: list[str | None] = []
    ciphertexts: list[bytes | None] = []
    for leg in legs:
        before = leg.expected if isinstance(leg.expected, int) else 0
        for position, event in enumerate(leg.events, start=before + 1):
            if event.private is None:
                key_ids.append(None)
                ciphertexts.append(None)
            else:
                key_id, ciphertext = keyring.encrypt(event.private, leg.stream, position)
                key_ids.append(key_id)
                ciphertexts.append(ciphertext)
    return key_ids, ciphertexts


def _verdict(request: Request, rows: Sequence[asyncpg.Record]) -> Verdict:
    if len(rows) == 1 and rows[0]["outcome"] in (_STORED, _ALREADY):  # nearly all there are
        return (_appended(request[0], rows[0]),)
    outcomes = {row["outcome"] for row in rows}
    if outcomes in ({_STORED}, {_ALREADY}):
        return tuple(_appended(leg, row) for leg, row in zip(request, rows, strict=True))
    # Of several legs with the same fault the first is named.
    by_outcome = {row["outcome"]: (leg, row) for leg, row in reversed(list(zip(request, rows, strict=True)))}
    if _BUSY in by_outcome:
        return Busy(by_outcome[_BUSY][1]["shard"])
    if _REUSED in by_outcome:
        leg, row = by_outcome[_REUSED]
        return EventIdReused(leg.stream, row["offender"])
    if _CONFLICT in by_outcome:
        leg, row = by_outcome[_CONFLICT]
        return VersionConflict(leg.stream, leg.expected, row["found"])
    # Part of it is stored already, and the rest is not: it was another append that stored it.
    leg, _ = by_outcome[_ALREADY]
    return EventIdReused(leg.stream, leg.events[0].event_id)


def _appended(leg: StreamAppend, row: asyncpg.Record) -> Appended:
    first = row["first_position"]
    return Appended(
        leg.stream,
        first,
        first + len(leg.events) - 1,
        row["shard"],
        row["first_shard_position"],
        row["last_hash"],
        already=row["outcome"] == _ALREADY,
    )


def shards_of(request: Request) -> frozenset[int]:
    """The shards that a request needs."""
    return frozenset(shard_of(leg.stream) for leg in request)
