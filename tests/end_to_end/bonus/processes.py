"""A bonus service as a process of its own, a table as far as it sees one, and calls to it."""

from __future__ import annotations

import base64
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from eventstore import Expect, NewEvent
from eventstore.postgres import PostgresEventStore, open_pool
from rules_core.command_line.random_round import random_round
from rules_core.log.content import Content, content_bytes, parse_content
from rules_core.rulesets.shipped import shipped
from servicekit.grpc import open_channel
from stack import Stack
from stack.names import fresh_name
from tests.bonus.edges.client import Client
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import SIGNER, WalletProcess, in_thread
from tests.wallet.edges.processes import environment as base_environment
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard_bonus.entrypoints.grpc import BONUS

SERVING_S = 60.0
RULESET = "dark-boxes@1"

FOLLOWED = "SELECT coalesce(sum(position), 0)::bigint FROM eventstore.positions WHERE source = 'table'"
"""How many of the table's events have had their effect."""


class BonusProcess(WalletProcess):
    """A running bonus service, and what it has said so far."""


def environment(
    stack: Stack, dsn: str, *, table: str, namespace: str | None = None, **more: str
) -> dict[str, str]:
    """Settings of a bonus service for this stack."""
    return {
        **base_environment(stack, dsn, table=table, namespace=namespace),
        "UPCARD_JACKPOT_KEYS": json.dumps({"k1": base64.b64encode(bytes(32)).decode()}),
        "UPCARD_JACKPOT_KEY": "k1",
        "UPCARD_UPKEEP_INTERVAL_S": "0.1",
        **more,
    }


@contextlib.contextmanager
def running(settings: Mapping[str, str], *, kill_at: Path | None = None) -> Iterator[BonusProcess]:
    """A service that is ready, killed at the end if it lives still, or at the point that `kill_at` names."""
    program = "upcard_bonus" if kill_at is None else "tests.end_to_end.bonus.program"
    more = {} if kill_at is None else {"KILL_AT": str(kill_at)}
    with tempfile.TemporaryDirectory() as folder:
        bonus = BonusProcess({**settings, **more}, Path(folder), program=program)
        try:
            bonus.until_ready()
            yield bonus
        finally:
            bonus.process.kill()
            bonus.process.wait()


@contextlib.asynccontextmanager
async def serving(
    settings: Mapping[str, str], *, kill_at: Path | None = None
) -> AsyncIterator[tuple[BonusProcess, Client]]:
    """A service that is ready, and calls to it."""
    process = running(settings, kill_at=kill_at)
    bonus = await in_thread(process.__enter__)
    try:
        channel = open_channel(bonus.address, audience="bonus", services=[BONUS], signer=SIGNER)
        async with channel:
            await channel.wait_serving(SERVING_S)
            yield bonus, Client(BonusServiceStub(channel))
    finally:
        await in_thread(lambda: process.__exit__(None, None, None))


def rounds(seeds: Sequence[int]) -> list[list[Content]]:
    """Whole random rounds with stakes on B, one after the other at one table."""
    played = []
    for number, seed in enumerate(seeds, start=1):
        table = random_round(shipped(RULESET), seed, 2)
        contents = [parse_content(content) for content in table.contents]
        played.append([_renamed(one, number) for one in contents])
    return played


def _renamed(content: Content, number: int) -> Content:
    payload = {**content.payload, "number": number} if content.type == "RoundOpened" else content.payload
    return Content(
        content.event_id,
        content.type,
        content.version,
        f"round-play.{number}",
        content.recorded_at,
        content.correlation_id,
        content.causation_id,
        content.actor,
        content.salt,
        payload,
    )


async def record(table_dsn: str, played: Sequence[Sequence[Content]]) -> None:
    """Append rounds to the table's log."""
    async with (
        await open_pool(table_dsn, application_name="dealer") as pool,
        PostgresEventStore(pool) as store,
    ):
        for contents in played:
            new = [NewEvent(UUID(one.event_id), one.type, content_bytes(one)) for one in contents]
            await store.append(contents[0].stream, new, expected=Expect.ANY)


def neighbour(stack: Stack, dsn: str, namespace: str) -> Neighbour:
    """The table service as far as the bonus service sees it."""
    return Neighbour("table", stack, dsn, namespace)


def fresh_namespace() -> str:
    """Names for topics and groups that no other test has."""
    return fresh_name("bonus").replace("_", "-")
