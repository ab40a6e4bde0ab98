"""The wallet as a process of its own, and calls to it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from servicekit.grpc import Actor, ActorKind, ClientChannel, ContextSigner, open_channel
from stack import Stack
from stack.names import fresh_name
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_wallet.entrypoints.grpc.access import WALLET

ROOT = Path(__file__).parents[3]
DEADLINE_S = 60.0
PAUSE_S = 0.02

PLATFORM = Actor(ActorKind.PLATFORM)
KEY = Ed25519PrivateKey.generate()
SIGNER = ContextSigner("gateway-1", KEY)


def staff(name: str, *roles: str) -> Actor:
    """A member of staff."""
    return Actor(ActorKind.STAFF, name, frozenset(roles or ("operations",)))


def environment(
    stack: Stack, dsn: str, *, table: str = "127.0.0.1:1", namespace: str | None = None, **more: str
) -> dict[str, str]:
    """Settings of a wallet for this stack; the table service is away unless one is named."""
    public = base64.b64encode(KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    given = {
        "UPCARD_DSN": dsn,
        "UPCARD_KAFKA_BOOTSTRAP": stack.addresses.kafka_bootstrap,
        "UPCARD_KAFKA_IDEMPOTENT_PRODUCER": str(stack.facts.idempotent_producer),
        "UPCARD_KAFKA_REPLICAS": str(stack.facts.replication_factor),
        "UPCARD_KAFKA_REPLICAS_IN_SYNC": str(stack.facts.min_insync_replicas),
        "UPCARD_KAFKA_FETCH_WAIT_MS": "20",
        "UPCARD_KAFKA_NAMESPACE": namespace or fresh_name("wallet").replace("_", "-"),
        "UPCARD_TABLE_ADDRESS": table,
        "UPCARD_TRUSTED_KEYS": f"gateway-1:player+staff+platform:{public}",
        "UPCARD_UPKEEP_INTERVAL_S": "0.2",
        "UPCARD_CLOCK_SKEW_MAX_MS": "1000",
        **more,
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("UPCARD_", "OTEL_"))}
    return {**clean, **given}


class WalletProcess:
    """A running wallet, and what it has said so far."""

    def __init__(self, settings: Mapping[str, str], folder: Path, *, program: str) -> None:
        self.settings = dict(settings)
        self._out, self._errors = folder / "out", folder / "errors"
        with self._out.open("wb") as out, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", program],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                cwd=ROOT,
                env=self.settings,
            )

    @property
    def said(self) -> str:
        """All of its output so far."""
        return f"{self._out.read_text(encoding='utf-8')}\n{self._errors.read_text(encoding='utf-8')}"

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log with this event."""
        whole = self._out.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
        return [line for line in map(json.loads, whole) if line["event"] == event]

    def until(self, what: str, condition: Callable[[], Any]) -> Any:
        """Wait until it is so, as long as the process lives; what was found."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            ended = self.process.poll() is not None
            if found := condition():
                return found
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"waited for {what}; it said:\n{self.said}")
            time.sleep(PAUSE_S)

    def until_ready(self) -> None:
        """Wait until it says that it is ready."""
        self.until("readiness", lambda: self.lines("starting") and self.ask("/health/ready")[0] == 200)

    def ask(self, path: str) -> tuple[int, str]:
        """Ask its endpoint; status and body."""
        port = self.lines("starting")[0]["metrics_port"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=DEADLINE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        samples = (
            line
            for line in self.ask("/metrics")[1].splitlines()
            if line.startswith((f"{name} ", f"{name}{{"))
        )
        return sum(float(line.rpartition(" ")[2]) for line in samples)

    @property
    def address(self) -> str:
        """Where it takes calls."""
        found: str = self.lines("gRPC server listens")[0]["address"]
        return found

    def stop(self) -> int:
        """Stop it in order; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)


@contextlib.contextmanager
def running(settings: Mapping[str, str], *, kill_at: Path | None = None) -> Iterator[WalletProcess]:
    """A wallet that is ready, killed at the end if it lives still, or at the point that `kill_at` names."""
    program = "upcard_wallet" if kill_at is None else "tests.wallet.edges.program"
    more = {} if kill_at is None else {"KILL_AT": str(kill_at)}
    with tempfile.TemporaryDirectory() as folder:
        wallet = WalletProcess({**settings, **more}, Path(folder), program=program)
        try:
            wallet.until_ready()
            yield wallet
        finally:
            wallet.process.kill()
            wallet.process.wait()


@contextlib.asynccontextmanager
async def calls(wallet: WalletProcess) -> AsyncIterator[WalletServiceStub]:
    """A stub; `acting_as` says in whose name it calls."""
    async with channel_to(wallet.address) as channel:
        await channel.wait_serving(DEADLINE_S)
        yield WalletServiceStub(channel)


def channel_to(address: str) -> ClientChannel:
    """A channel as the gateway has it."""
    return open_channel(address, audience="wallet", services=[WALLET], signer=SIGNER)


async def in_thread(work: Callable[[], Any]) -> Any:
    """Do what blocks, and let the loop go on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, work)
