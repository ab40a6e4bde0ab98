"""Wallets to play: in this process, and as a program of its own that can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from upcard_conformance.cases.case import Case
from upcard_conformance.findings import Report
from upcard_conformance.kit import CASES, run_kit
from upcard_conformance.reference.broken import Broken
from upcard_conformance.reference.wallet import ReferenceWallet, speakers_of
from upcard_conformance.stage import Target
from upcard_conformance.wire import Wire
from upcard_seamless.dialects import load_dialect
from upcard_seamless.signing import new_rsa_key

DIALECTS = ("plain", "single")
SECRET = b"a secret of tests"
PRIVATE, PUBLIC = new_rsa_key()
OURS = {"plain": SECRET, "single": PRIVATE}
THEIRS = {"plain": SECRET, "single": PUBLIC}
MONEY = 100_000
WITHIN_S = 60.0
HONEST = Broken("honest", "")
TARGET = Target("op1", "p1", "EUR", "JPY", signed_out="p2")


@asynccontextmanager
async def wallet(path: Path, broken: Broken = HONEST) -> AsyncIterator[ReferenceWallet]:
    """A reference wallet in this process, with `p1` and, signed out, `p2`."""
    book = broken.open_book(path)
    book.open("p1", "EUR", MONEY)
    book.open("p2", "EUR", MONEY, signed_in=False)
    async with broken.wallet(book, speakers_of(THEIRS, broken.speaker)) as wallet:
        yield wallet


async def played(
    address: str,
    dialect: str,
    cases: Sequence[Case] = CASES,
    *,
    target: Target = TARGET,
    timeout_s: float = WITHIN_S,
) -> Report:
    """What the kit says of the wallet at an address."""
    async with Wire(address, load_dialect(dialect), OURS[dialect], timeout_s=timeout_s) as wire:
        return await run_kit(wire, target, cases)


def case_named(name: str) -> Case:
    """One case."""
    (found,) = (one for one in CASES if one.name == name)
    return found


@dataclass
class Program:
    """The reference wallet as a program: `kill` ends it without a chance to do anything more."""

    arguments: list[str]
    process: asyncio.subprocess.Process
    addresses: dict[str, str]

    async def kill(self) -> None:
        """SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()

    async def kill_and_start(self) -> None:
        """As after a crash: the same file, the same port."""
        await self.kill()
        port = self.addresses["plain"].rsplit(":", 1)[1].split("/")[0]
        again = await _started([*self.arguments, "--port", port])
        self.process, self.addresses = again.process, again.addresses


async def _started(arguments: list[str]) -> Program:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "upcard_conformance.reference",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PLAIN": SECRET.decode(), "SINGLE": PUBLIC.decode()},
    )
    assert process.stdout is not None
    addresses: dict[str, str] = {}
    async with asyncio.timeout(WITHIN_S):
        while len(addresses) < len(DIALECTS):
            name, address = (await process.stdout.readline()).decode().split()
            addresses[name] = address
    return Program(arguments, process, addresses)


@asynccontextmanager
async def program(path: Path, *options: str) -> AsyncIterator[Program]:
    """The reference wallet as a program of its own, with `p1` and, signed out, `p2`."""
    players = [word for one in ("p1", "p2") for word in ("--player", f"{one}:EUR:{MONEY}")]
    dialects = ["--dialect", "plain=PLAIN", "--dialect", "single=SINGLE"]
    arguments = ["--book", str(path), *dialects, *players, "--signed-out", "p2", *options]
    running = await _started(arguments)
    try:
        yield running
    finally:
        await running.kill()
