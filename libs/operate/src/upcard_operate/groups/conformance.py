"""`upcard conformance`: whether a partner's wallet does what it has to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from upcard_conformance.findings import Finding
from upcard_conformance.kit import CannotBegin
from upcard_conformance.reports.data import as_json as json_of
from upcard_conformance.reports.words import in_words, line
from upcard_conformance.running import CONFORMS, TIMEOUT_S, Options, run_once, status_of
from upcard_operate.output import Misused
from upcard_operate.running import run

app = typer.Typer(help="Whether a partner's wallet does what it has to.", invoke_without_command=True)


@app.callback()
def conformance(
    wallet_url: Annotated[str, typer.Option("--wallet-url", help="What stands before the dialect's paths.")],
    dialect: Annotated[str, typer.Option("--dialect", help="A shipped dialect, or a path to a .json file.")],
    secret_env: Annotated[
        str,
        typer.Option("--secret-env", help="Variable with the shared secret, or our RSA key (PEM)."),
    ],
    player: Annotated[
        str, typer.Option("--player", help="A player with play money whom nobody else uses meanwhile.")
    ],
    currency: Annotated[str, typer.Option("--currency", help="The player's currency.")] = "EUR",
    other_currency: Annotated[
        str, typer.Option("--other-currency", help="A currency that the player does not have.")
    ] = "JPY",
    operator: Annotated[str, typer.Option("--operator", help="The operator's id in calls.")] = "conformance",
    signed_out_player: Annotated[
        str | None, typer.Option("--signed-out-player", help="A player whose session has expired.")
    ] = None,
    restart_command: Annotated[
        str | None, typer.Option("--restart-command", help="Kills the wallet and starts it again.")
    ] = None,
    timeout_s: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds that an answer may take.")
    ] = TIMEOUT_S,
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Play this case alone; may be given several times.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="A case that could not be played counts as a failure.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit's XML to this file.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show what was sent and came in all cases.")
    ] = False,
) -> None:
    """Play a partner's wallet against every row of the decision table, and say what it does otherwise.

    Exit status: 0 it conforms, 1 it does not, 2 nothing could be said of it. docs/conformance.md says what a
    wallet needs beforehand, and how to read the report.
    """
    options = Options(
        wallet_url=wallet_url,
        dialect=dialect,
        secret_env=secret_env,
        player=player,
        currency=currency,
        other_currency=other_currency,
        operator=operator,
        signed_out_player=signed_out_player,
        restart_command=restart_command,
        timeout_s=timeout_s,
        cases=tuple(case or ()),
        junit=junit,
        complete=complete,
    )

    async def work() -> int:
        try:
            report = await run_once(options, None if as_json else _tell)
        except CannotBegin as error:
            raise Misused(str(error)) from None
        sys.stdout.write(json_of(report) + "\n" if as_json else in_words(report, every_exchange=verbose))
        return status_of(report, options)

    status = run(work())
    if status != CONFORMS:
        raise typer.Exit(status)


def _tell(finding: Finding) -> None:
    sys.stderr.write(f"{line(finding)}\n")
