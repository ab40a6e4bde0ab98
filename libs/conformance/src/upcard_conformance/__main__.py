"""`python -m upcard_conformance`: the kit as a program of its own, for partners who install nothing else."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from upcard_conformance.findings import Finding
from upcard_conformance.kit import CASES, CannotBegin
from upcard_conformance.reports.data import as_json
from upcard_conformance.reports.words import in_words, line
from upcard_conformance.running import CANNOT_BEGIN, TIMEOUT_S, Options, run_once, status_of
from upcard_seamless.dialects import shipped_dialects

_INTERRUPTED: Final = 130


def arguments() -> argparse.ArgumentParser:
    """What it is told."""
    parser = argparse.ArgumentParser(
        prog="python -m upcard_conformance",
        description="Play a partner's wallet, and say what it does otherwise than it has to.",
        epilog="Exit status: 0 it conforms, 1 it does not, 2 nothing could be said.",
    )
    add = parser.add_argument
    add("--wallet-url", required=True, help="what stands before the dialect's paths")
    add("--dialect", required=True, help=f"one of {', '.join(shipped_dialects())}, or a path to a .json file")
    add("--secret-env", required=True, help="variable with the shared secret or our RSA private key (PEM)")
    add("--player", required=True, help="a player with play money whom nobody else uses meanwhile")
    add("--currency", default="EUR", help="the player's currency")
    add("--other-currency", default="JPY", help="a currency that the player does not have")
    add("--operator", default="conformance", help="the operator's id in the calls")
    add("--signed-out-player", help="a player whose session has expired, with the same currency")
    add("--restart-command", help="kills the wallet and starts it again")
    add("--timeout", type=float, default=TIMEOUT_S, help="seconds that an answer may take")
    add("--case", action="append", default=[], help="play this case alone; may be given several times")
    add("--complete", action="store_true", help="a case that could not be played counts as a failure")
    add("--json", action="store_true", help="print the report as one JSON object")
    add("--junit", type=Path, help="write the report to this file as JUnit's XML")
    add("--verbose", action="store_true", help="show what was sent and came in all cases")
    add("--list", action="store_true", help="print the cases instead, with the rows that they play")
    return parser


def options_of(given: argparse.Namespace) -> Options:
    """The run that was asked for."""
    return Options(
        wallet_url=given.wallet_url,
        dialect=given.dialect,
        secret_env=given.secret_env,
        player=given.player,
        currency=given.currency,
        other_currency=given.other_currency,
        operator=given.operator,
        signed_out_player=given.signed_out_player,
        restart_command=given.restart_command,
        timeout_s=given.timeout,
        cases=tuple(given.case),
        junit=given.junit,
        complete=given.complete,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; the exit status."""
    words = sys.argv[1:] if argv is None else list(argv)
    if "--list" in words:
        for one in CASES:
            sys.stdout.write(f"{one.name}: {one.title}\n    {', '.join(one.rows)}\n")
        return 0
    given = arguments().parse_args(words)
    options = options_of(given)
    try:
        report = asyncio.run(run_once(options, None if given.json else _tell))
    except CannotBegin as error:
        sys.stderr.write(f"{error}\n")
        return CANNOT_BEGIN
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was asked of the wallet stays there\n")
        return _INTERRUPTED
    sys.stdout.write(as_json(report) + "\n" if given.json else in_words(report, every_exchange=given.verbose))
    return status_of(report, options)


def _tell(finding: Finding) -> None:
    sys.stderr.write(f"{line(finding)}\n")


if __name__ == "__main__":
    sys.exit(main())
