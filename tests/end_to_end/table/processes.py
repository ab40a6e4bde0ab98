"""Tables and a wallet as processes of their own, with everything that they are told."""

from __future__ import annotations

import base64
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from servicekit.grpc import (
    Actor,
    ActorKind,
    ClientChannel,
    ClientSettings,
    ContextSigner,
    open_channel,
)
from stack import Stack
from stack.names import fresh_name
from stack.ports import free_ports
from tests.wallet.edges.processes import DEADLINE_S, WalletProcess, in_thread
from tests.wallet.edges.processes import KEY as GATEWAY_KEY
from tests.wallet.edges.processes import SIGNER as GATEWAY
from tests.wallet.edges.processes import environment as wallet_environment
from upcard.table.v1.shoe_pb2_grpc import ShoeServiceStub
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_table.entrypoints.grpc.access import SHOE, TABLE
from upcard_wallet.entrypoints.grpc.access import WALLET

PLATFORM = Actor(ActorKind.PLATFORM)
DEALER = Actor(ActorKind.DEALER, "d1")
READER = Actor(ActorKind.DEALER, "reader1")
MANAGER = Actor(ActorKind.STAFF, "m1", frozenset({"operations"}))
SECOND = Actor(ActorKind.STAFF, "m2", frozenset({"operations"}))
FLOOR = Actor(ActorKind.STAFF, "f1", frozenset({"floor"}))
SERVING_S = 60.0

_SHOE_KEY = Ed25519PrivateKey.generate()
READERS = ContextSigner("shoe-1", _SHOE_KEY)
CARD_KEY = base64.b64encode(b"\x07" * 32).decode()
SCAN_KEY = "scan-key-of-the-tests-0123456789abcdef"
RESUME_KEY = "resume-key-of-the-tests-0123456789abc"
PATIENT = ClientSettings(default_timeout_s=20.0)


def _public(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def table_environment(
    stack: Stack, dsn: str, *, port: int, wallet: str, namespace: str, instance: str = "table-a", **more: str
) -> dict[str, str]:
    """Settings of a table service for this stack."""
    base = wallet_environment(stack, dsn, namespace=namespace)
    unwanted = {"UPCARD_TABLE_ADDRESS", "UPCARD_KAFKA_FETCH_WAIT_MS"}
    given = {name: value for name, value in base.items() if name not in unwanted}
    keys = (
        f"gateway-1:player+dealer+staff+platform:{_public(GATEWAY_KEY)}",
        f"shoe-1:dealer:{_public(_SHOE_KEY)}",
    )
    return {
        **given,
        "UPCARD_INSTANCE": instance,
        "UPCARD_GRPC__PORT": str(port),
        "UPCARD_WALLET_ADDRESS": wallet,
        "UPCARD_TRUSTED_KEYS": ",".join(keys),
        "UPCARD_CARD_KEYS": json.dumps({"k1": CARD_KEY}),
        "UPCARD_CARD_KEY": "k1",
        "UPCARD_SCAN_KEY": SCAN_KEY,
        "UPCARD_RESUME_KEY": RESUME_KEY,
        "UPCARD_LEASE_S": "2",
        **more,
    }


@contextlib.contextmanager
def program(
    settings: Mapping[str, str], name: str, *, kill_at: Path | None = None
) -> Iterator[WalletProcess]:
    """A service that is ready, killed at the end if it lives still."""
    more = {} if kill_at is None else {"KILL_AT": str(kill_at)}
    with tempfile.TemporaryDirectory() as folder:
        process = WalletProcess({**settings, **more}, Path(folder), program=name)
        try:
            process.until_ready()
            yield process
        finally:
            process.process.kill()
            process.process.wait()


@dataclass(frozen=True)
class Calls:
    """What the gateway, a shoe reader and the cashier call."""

    table: TableServiceStub
    shoe: ShoeServiceStub
    wallet: WalletServiceStub
    channels: tuple[ClientChannel, ...] = ()

    async def connected(self) -> None:
        """Wait until all of them reach a server that serves."""
        for channel in self.channels:
            await channel.wait_serving(SERVING_S)


@dataclass
class Casino:
    """A table service and a wallet, each on its database, and Kafka between them."""

    stack: Stack
    table_dsn: str
    """For the role that owns the database: tests look at everything."""
    wallet_dsn: str
    table_settings: dict[str, str]
    wallet_settings: dict[str, str]
    table: WalletProcess
    wallet: WalletProcess
    calls: Calls
    exits: contextlib.AsyncExitStack = field(repr=False)
    program: str = "upcard_table"
    kill_at: Path | None = None

    async def restart_table(self) -> None:
        """Start the table service again, on its port, after its process has died; it may be killed again."""
        await in_thread(lambda: self.table.process.wait(DEADLINE_S))
        process = program(self.table_settings, self.program, kill_at=self.kill_at)
        self.table = await in_thread(process.__enter__)
        self.exits.callback(process.__exit__, None, None, None)
        await self.calls.connected()


@contextlib.asynccontextmanager
async def calls_to(table: str, wallet: str) -> AsyncIterator[Calls]:
    """Stubs; `acting_as` says in whose name they call."""
    async with contextlib.AsyncExitStack() as exits:
        channel = await exits.enter_async_context(
            open_channel(table, audience="table", services=[TABLE], settings=PATIENT, signer=GATEWAY)
        )
        reader = await exits.enter_async_context(
            open_channel(table, audience="table", services=[SHOE], settings=PATIENT, signer=READERS)
        )
        cashier = await exits.enter_async_context(
            open_channel(wallet, audience="wallet", services=[WALLET], settings=PATIENT, signer=GATEWAY)
        )
        calls = Calls(
            TableServiceStub(channel),
            ShoeServiceStub(reader),
            WalletServiceStub(cashier),
            (channel, reader, cashier),
        )
        await calls.connected()
        yield calls


@contextlib.asynccontextmanager
async def open_casino(
    stack: Stack,
    table_dsns: tuple[str, str],
    wallet_dsns: tuple[str, str],
    *,
    kill_at: Path | None = None,
    wallet_program: str = "upcard_wallet",
    wallet_more: Mapping[str, str] | None = None,
    **table_more: str,
) -> AsyncIterator[Casino]:
    """Start both; DSNs are (the owner's, the service's). `kill_at` names where the table dies."""
    table_program = "upcard_table" if kill_at is None else "tests.end_to_end.table.program"
    namespace = fresh_name("casino").replace("_", "-")
    table_port, wallet_port = free_ports(2)
    table_at, wallet_at = f"127.0.0.1:{table_port}", f"127.0.0.1:{wallet_port}"
    for_wallet = wallet_environment(
        stack,
        wallet_dsns[1],
        table=table_at,
        namespace=namespace,
        UPCARD_GRPC__PORT=str(wallet_port),
        **(wallet_more or {}),
    )
    for_table = table_environment(
        stack, table_dsns[1], port=table_port, wallet=wallet_at, namespace=namespace, **table_more
    )
    async with contextlib.AsyncExitStack() as exits:
        running = []
        wanted = ((for_wallet, wallet_program, None), (for_table, table_program, kill_at))
        for settings, name, at in wanted:
            process = program(settings, name, kill_at=at)
            running.append(await in_thread(process.__enter__))
            exits.callback(process.__exit__, None, None, None)
        calls = await exits.enter_async_context(calls_to(table_at, wallet_at))
        wallet, table = running
        yield Casino(
            stack,
            table_dsns[0],
            wallet_dsns[0],
            for_table,
            for_wallet,
            table,
            wallet,
            calls,
            exits,
            table_program,
            kill_at,
        )
        if kill_at is None:
            assert await in_thread(table.stop) == 0, table.said
