"""The command line: keep a lane running, tell which lanes can run here, fetch what the native lane needs."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stack.brokers.jars import kafka_jars
from stack.errors import StackError
from stack.folders import lasting_folder
from stack.lanes import Lane, Settings, require, why_unavailable
from stack.stack import Stack

LOOK_S = 0.25
INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        match options.command:
            case "up":
                return _up(options)
            case "lanes":
                return _lanes()
            case "check":
                require(Lane(options.lane))
            case _:
                print(kafka_jars())
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stack", description="PostgreSQL and Kafka on this machine."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start a lane, print its addresses, keep it running until Ctrl-C")
    up.add_argument("--lane", choices=list(Lane), help="default: UPCARD_LANE, else embedded")
    up.add_argument("--brokers", type=int, choices=[1, 3], help="default: UPCARD_BROKERS, else 1")
    up.add_argument("--data", type=Path, help="folder of its data; default: .stack/<lane> in the project")
    commands.add_parser("lanes", help="which lanes can run on this machine")
    check = commands.add_parser("check", help="succeed when a lane can run on this machine, else say why not")
    check.add_argument("lane", choices=list(Lane))
    commands.add_parser("fetch", help="fetch Apache Kafka for the native lane; print where it is")
    return parser


def _lanes() -> int:
    for lane in Lane:
        why = why_unavailable(lane)
        print(f"{lane.value:<11} {'can run here' if why is None else f'CANNOT RUN HERE: {why}'}")
    return 0


def _up(options: argparse.Namespace) -> int:
    settings = Settings.from_environment()
    if options.lane is not None:
        settings = replace(settings, lane=Lane(options.lane))
    if options.brokers is not None:
        settings = replace(settings, brokers=options.brokers)
    # SIGTERM ends it like Ctrl-C, wherever it is; should it be killed, the guards end the servers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"Starting the {settings.lane.value} lane ...", file=sys.stderr, flush=True)
    with Stack(settings, options.data or lasting_folder(settings.lane)) as stack:
        print(stack.addresses.as_text(), flush=True)
        print(f"\nAlso in {stack.folder / 'addresses.json'}. Ctrl-C stops it.", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while not stack.dead:
                time.sleep(LOOK_S)
        dead = stack.dead
        print("Stopping ...", file=sys.stderr, flush=True)
    for server in dead:
        print(
            f"{server.name} ended by itself; its log: {getattr(server, 'log', 'in its container')}",
            file=sys.stderr,
        )
    return 1 if dead else 0
