r"""A shoe reader without a shoe: tells the table service card by card what a shuffled deck would have.

    UPCARD_TABLE_ADDRESS=127.0.0.1:7001 UPCARD_SIGNING_KEY_ID=shoe-1 UPCARD_SIGNING_KEY="$(cat shoe.pem)" \
    UPCARD_READER_TABLES=t1,t2 python -m upcard_operate.demo.reader

It asks the table which card is awaited and reads the next one of the round's deck, as a real reader does when
the dealer draws. A deck follows from seed, table and round: a reader that was killed goes on where it was,
and who knows the seed knows the cards, so it is for demonstrations and tests alone. It says nothing of cards.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal

import grpc.aio

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import (
    Actor,
    ActorKind,
    ClientSettings,
    ContextSigner,
    acting_as,
    failure_of,
    open_channel,
)
from servicekit.grpc.signing import signer_from_pem
from upcard.table.v1 import shoe_pb2, table_pb2, watching_pb2
from upcard.table.v1.shoe_pb2_grpc import ShoeServiceStub
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_operate.options import address_of
from upcard_operate.output import Misused

READY: Final = "the shoe reader reads"
"""The line that it says on standard error once the table service answers."""
LOOK_S: Final = 0.05
"""Pause between two looks at a table whose next card is not awaited."""
HELD_UP_S: Final = 1.0
"""Pause after a refusal that does not pass by itself: manual mode, a round that waits for its dealer."""
CALL_S: Final = 10.0
TRIES: Final = 8
"""Of one scan, under the same ids, while the service does not answer; then the table is looked at again."""
MOST_FAILURES: Final = 10
"""Failures in a row that do not pass by themselves; then the reader ends."""
_READY_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 3.0
_SALT_BYTES: Final = 16
_MISUSED: Final = 2

_Read = Literal["laid", "next_card", "look_again", "held_up"]


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Which tables are read, where, in whose name."""

    address: str
    signer: ContextSigner = field(repr=False)
    tables: tuple[str, ...]
    seed: int | None = None
    """None: another deck each time, from the system's random numbers."""
    card_s: float = 0.0
    """How long a card takes from the shoe to its place, in seconds."""


def settings_from(environment: Mapping[str, str]) -> ReaderSettings:
    """Read the settings. Raises Misused, which does not show the key."""
    key_id, pem = environment.get("UPCARD_SIGNING_KEY_ID"), environment.get("UPCARD_SIGNING_KEY")
    if not key_id or not pem:
        raise Misused("who reads? Set UPCARD_SIGNING_KEY_ID and UPCARD_SIGNING_KEY to a reader's key")
    tables = tuple(filter(None, environment.get("UPCARD_READER_TABLES", "").split(",")))
    if not tables:
        raise Misused("which tables? Set UPCARD_READER_TABLES to their ids, with commas between")
    try:
        signer = signer_from_pem(key_id, pem.encode())
        seed = environment.get("UPCARD_READER_SEED")
        card_s = float(environment.get("UPCARD_READER_CARD_S", "0"))
        return ReaderSettings(
            address_of("table"), signer, tables, None if not seed else int(seed), max(0.0, card_s)
        )
    except ValueError as problem:
        raise Misused(f"a setting of the reader cannot be read: {problem}") from None


class ShoeReader:
    """Reads the cards of one table until it is cancelled."""

    def __init__(
        self,
        tables: TableServiceStub,
        shoe: ShoeServiceStub,
        table: str,
        *,
        seed: int | None,
        card_s: float = 0.0,
    ) -> None:
        self._tables = tables
        self._shoe = shoe
        self._table = table
        self._seed = secrets.randbits(64) if seed is None else seed
        self._card_s = card_s
        self._actor = Actor(ActorKind.DEALER, f"shoe-{table}"[:64])
        self._failures = {"look": 0, "scan": 0}
        """Calls of each kind that failed for a reason of our own, since the last that did not."""
        self._round = 0
        self._deck: Iterator[str] = iter(())

    async def run(self) -> None:
        """Look, and read what is awaited, again and again."""
        pause_s = 0.0
        with acting_as(self._actor):
            while True:
                await asyncio.sleep(pause_s)
                view = await self._look()
                pause_s = LOOK_S if view is None else await self._read(view)

    async def _look(self) -> dict[str, Any] | None:
        """The table's latest round as its dealer sees it; None: no round, or nobody answers just now."""
        request = watching_pb2.GetRoundRequest(table=self._table)
        try:
            answer = await self._tables.GetRound(request, timeout=CALL_S)
        except grpc.aio.AioRpcError as error:
            await self._trouble("look", error)
            return None
        self._failures["look"] = 0
        if answer.WhichOneof("result") != "view":
            return None
        view: dict[str, Any] = json.loads(answer.view)
        return view

    async def _read(self, view: dict[str, Any]) -> float:
        """Read the cards that are awaited; how long to wait until the next look, in seconds."""
        desk, number = view["desk"], view["round"]
        if desk["awaited"] is None:
            return LOOK_S
        if number != self._round:
            gone = len(view["cards"]) + len(view["burned"])
            self._round, self._deck = number, iter(deck_of(self._seed, self._table, number)[gone:])
        laid = 0
        while laid < desk["to_lay"]:
            card = next(self._deck, None)
            if card is None:
                return HELD_UP_S  # only a cancellation helps a round whose deck is out
            read = await self._scan(number, card)
            if read == "laid":
                laid += 1
                await asyncio.sleep(self._card_s)
            elif read != "next_card":
                # The card was not laid: it comes first again.
                self._deck = iter([card, *self._deck])
                return LOOK_S if read == "look_again" else HELD_UP_S
        return 0.0

    async def _scan(self, number: int, card: str) -> _Read:
        request = shoe_pb2.ScanCardRequest(
            request_id=str(uuid.uuid4()),
            table=self._table,
            round=number,
            scan_id=str(uuid.uuid4()),
            card=card,
            card_salt=secrets.token_bytes(_SALT_BYTES),
        )
        for attempt in range(TRIES):
            try:
                answer = await self._shoe.ScanCard(request, timeout=CALL_S)
            except grpc.aio.AioRpcError as error:
                await self._trouble("scan", error, attempt)
                continue
            self._failures["scan"] = 0
            if answer.WhichOneof("result") == "laid":
                return "laid"
            return _meaning(answer.refusal.reason)
        return "look_again"

    async def _trouble(self, call: str, error: grpc.aio.AioRpcError, attempt: int = 0) -> None:
        """Wait for what may pass. Raises the error that came again and again: a wrong key, no such call."""
        failure = failure_of(error)
        if not failure.may_pass and failure.code is not grpc.StatusCode.RESOURCE_EXHAUSTED:
            self._failures[call] += 1
            _say(f"a {call} failed: {failure.code.name.lower()} {failure.reason}")
            if self._failures[call] >= MOST_FAILURES:
                raise error
        await asyncio.sleep(min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt))


def deck_of(seed: int, table: str, number: int) -> tuple[str, ...]:
    """The 52 cards of a round, in the order in which they come out."""
    return tuple(Random(f"{seed}/{table}/{number}").sample(CARD_TEXTS, len(CARD_TEXTS)))


def _meaning(reason: str) -> _Read:
    """What a refusal means to the card that was read."""
    if reason in {"no_card_awaited", "round_over", "round_missing", "round_not_open"}:
        return "look_again"
    if reason == "scan_problem":
        return "next_card"  # it lies already: read by this reader before it was started again
    _say(f"a scan is refused: {reason}")
    return "held_up"


async def read_tables(settings: ReaderSettings, stop: asyncio.Event) -> None:
    """Read all tables until `stop`. Raises NotServing, and what a reader raises."""
    services = [
        table_pb2.DESCRIPTOR.services_by_name["TableService"],
        shoe_pb2.DESCRIPTOR.services_by_name["ShoeService"],
    ]
    channel = open_channel(
        settings.address,
        audience="table",
        services=services,
        settings=ClientSettings(),
        signer=settings.signer,
    )
    async with channel, asyncio.TaskGroup() as group:
        await channel.wait_serving(_READY_S)
        tables, shoe = TableServiceStub(channel), ShoeServiceStub(channel)
        readers = [
            ShoeReader(tables, shoe, table, seed=settings.seed, card_s=settings.card_s)
            for table in settings.tables
        ]
        tasks = [group.create_task(reader.run()) for reader in readers]
        _say(READY)
        await stop.wait()
        for task in tasks:
            task.cancel()


async def _main() -> None:
    settings = settings_from(os.environ)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await read_tables(settings, stop)


def _say(sentence: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()


def main() -> None:
    """The program: ends with 0 when it is asked to end, 2 for wrong settings."""
    try:
        asyncio.run(_main())
    except Misused as problem:
        _say(f"{problem}.")
        sys.exit(_MISUSED)


if __name__ == "__main__":
    main()
