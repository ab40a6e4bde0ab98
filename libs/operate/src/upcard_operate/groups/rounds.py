"""`upcard round`: a round as it was, decided again, explained; the first things to look at in a dispute."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from rules_core.log.verify import verify_bundle
from upcard.history.v1 import history_pb2
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard_operate.calling import CALL_S, all_of, called, granted
from upcard_operate.explaining import explained
from upcard_operate.options import AsJson
from upcard_operate.output import CommandFailed, Output
from upcard_operate.running import FAILED, run

app = typer.Typer(no_args_is_help=True, help="Rounds: what happened, and whether it was right.")

HISTORY = history_pb2.DESCRIPTOR.services_by_name["HistoryService"]

Round = Annotated[str, typer.Argument(help="<table>.<number>, such as t1.42.")]


@app.command()
def show(round_name: Round, as_json: AsJson = False) -> None:
    """The round in few words, and everything that happened in it, in order."""

    async def work() -> None:
        output = Output(as_json=as_json)
        async with called("history", HISTORY) as channel:
            history = HistoryServiceStub(channel)
            found = granted(
                await history.GetRound(history_pb2.GetRoundRequest(round=round_name), timeout=CALL_S)
            )
            one = found.round.round
            output.record(
                {
                    "round": one.round,
                    "ruleset": one.ruleset,
                    "state": history_pb2.RoundState.Name(one.state).removeprefix("ROUND_STATE_").lower(),
                    "reason": one.reason,
                    "opened_at": one.opened_at.ToDatetime().isoformat(),
                    "dealers": list(one.dealers),
                    "corrections": one.corrections,
                    "totals": [
                        f"{total.currency}: staked {total.staked}, returned {total.returned}"
                        for total in one.totals
                    ],
                }
            )
            request = history_pb2.GetTimelineRequest(round=round_name)
            pages = await all_of(lambda: history.GetTimeline(request, timeout=CALL_S))
        entries = [entry for page in pages for entry in page.entries]
        rows = [
            {
                "position": entry.position,
                "at": entry.recorded_at.ToDatetime().isoformat(),
                "actor": entry.actor,
                "type": entry.type,
                "payload": json.loads(entry.payload),
            }
            for entry in entries
        ]
        output.rows(rows, "Nothing is known of it.")

    run(work())


@app.command()
def replay(round_name: Round, as_json: AsJson = False) -> None:
    """Decide the whole round again from its events; exit status 1 when anything disagrees."""

    async def work() -> bool:
        async with called("history", HISTORY) as channel:
            answer = granted(
                await HistoryServiceStub(channel).ReplayRound(
                    history_pb2.ReplayRoundRequest(round=round_name), timeout=CALL_S
                )
            )
        output = Output(as_json=as_json)
        if as_json:
            output.record(json.loads(answer.replay.report))
        for sentence in answer.replay.sentences:
            output.say(sentence)
        return answer.replay.outcome == history_pb2.REPLAY_OUTCOME_AGREED

    if not run(work()):
        raise typer.Exit(FAILED)


@app.command()
def explain(
    round_name: Round,
    player: Annotated[str | None, typer.Option(help="This player's boxes alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say in plain English why each wager was settled as it was."""

    async def work() -> None:
        text = explained(await _bundle(round_name), player)
        output = Output(as_json=as_json)
        if as_json:
            output.record({"round": round_name, "explanation": text.splitlines()})
        output.say(text)

    run(work())


@app.command()
def bundle(
    round_name: Round,
    file: Annotated[Path, typer.Argument(help="Where to; - is standard output.")],
    player: Annotated[str | None, typer.Option(help="For this player: others' events are withheld.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the round as one file that anybody can check: `python -m rules_core verify FILE`."""

    async def work() -> bool:
        data = await _bundle(round_name, player or "")
        if str(file) == "-":
            sys.stdout.buffer.write(data)
            return True
        file.write_bytes(data)
        report = verify_bundle(data)
        output = Output(as_json=as_json)
        output.record({"file": str(file), "bytes": len(data), "agreed": report.exit_code == 0})
        return report.exit_code == 0

    if not run(work()):
        raise typer.Exit(FAILED)


async def _bundle(round_name: str, player: str = "") -> bytes:
    async with called("history", HISTORY) as channel:
        request = history_pb2.GetBundleRequest(round=round_name, player=player)
        history = HistoryServiceStub(channel)
        pages = await all_of(lambda: history.GetBundle(request, timeout=CALL_S))
    parts = [granted(page).data for page in pages]
    if not parts:
        raise CommandFailed(f"The history service has sent nothing of {round_name}.")
    return b"".join(parts)
