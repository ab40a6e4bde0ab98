"""One run of the kit as a program: what it is told, what it writes, and its exit status."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from upcard_conformance.findings import Finding, Report
from upcard_conformance.kit import CannotBegin, cases_named, run_kit
from upcard_conformance.reports.data import as_junit
from upcard_conformance.stage import Target
from upcard_conformance.wire import Wire
from upcard_seamless.dialects import DialectInvalid, load_dialect
from upcard_seamless.signing import KeyInvalid

CONFORMS: Final = 0
DIFFERS: Final = 1
CANNOT_BEGIN: Final = 2
TIMEOUT_S: Final = 5.0
"""As long as Upcard itself waits for a win or a rollback by default."""
_RESTART_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run is told."""

    wallet_url: str
    """What stands before the dialect's paths."""
    dialect: str
    """The name of a shipped dialect, or the path of a `.json` file."""
    secret_env: str
    """The environment variable with the shared secret, or the kit's RSA private key as PEM."""
    player: str
    currency: str = "EUR"
    other_currency: str = "JPY"
    operator: str = "conformance"
    signed_out_player: str | None = None
    restart_command: str | None = None
    timeout_s: float = TIMEOUT_S
    cases: tuple[str, ...] = ()
    junit: Path | None = None
    complete: bool = False
    """Cases that could not be played count as failures."""


async def run_once(options: Options, tell: Callable[[Finding], None] | None = None) -> Report:
    """Play the kit, and write what was asked for. Raises CannotBegin."""
    secret = os.environ.get(options.secret_env, "").encode()
    if not secret:
        raise CannotBegin(f"set {options.secret_env} to the shared secret, or the private key as PEM")
    if (
        urlsplit(options.wallet_url).scheme not in {"http", "https"}
        or not urlsplit(options.wallet_url).netloc
    ):
        raise CannotBegin(f"{options.wallet_url} is no address that begins with http:// or https://")
    if options.timeout_s <= 0:
        raise CannotBegin("--timeout has to be more than 0 seconds")
    if options.junit is not None and not await asyncio.to_thread(options.junit.parent.is_dir):
        raise CannotBegin(f"--junit: there is no folder {options.junit.parent}")
    if options.currency == options.other_currency:
        raise CannotBegin("--currency and --other-currency have to differ")
    try:
        wire = Wire(options.wallet_url, load_dialect(options.dialect), secret, timeout_s=options.timeout_s)
    except (DialectInvalid, KeyInvalid) as error:
        raise CannotBegin(str(error)) from None
    target = Target(
        operator=options.operator,
        player=options.player,
        currency=options.currency,
        other_currency=options.other_currency,
        signed_out=options.signed_out_player,
        restart=_restarting(options.restart_command),
    )
    async with wire:
        report = await run_kit(wire, target, cases_named(options.cases), tell=tell)
    if options.junit is not None:
        await asyncio.to_thread(options.junit.write_text, as_junit(report), "utf-8")
    return report


def status_of(report: Report, options: Options) -> int:
    """The exit status."""
    if options.complete and report.count("not_run"):
        return DIFFERS
    return CONFORMS if report.conforms else DIFFERS


def _restarting(command: str | None) -> Callable[[], Awaitable[None]] | None:
    if command is None:
        return None
    words = shlex.split(command)
    if not words:
        raise CannotBegin("--restart-command is empty")

    async def restart() -> None:
        try:
            process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.DEVNULL)
        except OSError as error:
            raise CannotBegin(f"--restart-command: {error}") from None
        try:
            async with asyncio.timeout(_RESTART_S):
                status = await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise CannotBegin(f"--restart-command took more than {_RESTART_S:g} s") from None
        if status:
            raise CannotBegin(f"--restart-command ended with status {status}")

    return restart
