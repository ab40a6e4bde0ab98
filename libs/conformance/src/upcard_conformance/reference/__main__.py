"""`python -m upcard_conformance.reference`: a partner's wallet to try things with, on one SQLite file."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from upcard_conformance.reference.broken import BROKEN, Broken
from upcard_conformance.reference.wallet import speakers_of
from upcard_seamless.dialects import DialectInvalid
from upcard_seamless.signing import KeyInvalid

_MISUSED: Final = 2


def arguments() -> argparse.ArgumentParser:
    """What it is told."""
    parser = argparse.ArgumentParser(
        prog="python -m upcard_conformance.reference",
        description="A partner's wallet to try things with. It speaks every dialect that has a secret.",
    )
    parser.add_argument("--book", type=Path, required=True, help="the SQLite file; made where it is missing")
    parser.add_argument(
        "--dialect",
        action="append",
        required=True,
        metavar="NAME=VARIABLE",
        help="a dialect, and the environment variable with its shared secret or Upcard's public key (PEM)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="where it listens")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free; it is printed")
    parser.add_argument(
        "--player",
        action="append",
        default=[],
        metavar="ID:CURRENCY:AMOUNT",
        help="a player with play money, in minor units, unless the book has them already",
    )
    parser.add_argument(
        "--signed-out", action="append", default=[], metavar="ID", help="a player whose session has expired"
    )
    parser.add_argument("--broken", choices=sorted(BROKEN), help="with this defect, to see what the kit says")
    return parser


async def serve(given: argparse.Namespace) -> None:
    """Listen until SIGINT or SIGTERM. Raises ValueError where it was told nonsense."""
    broken = BROKEN[given.broken] if given.broken else Broken("none", "")
    secrets = {}
    for one in given.dialect:
        name, variable = _parts(one, "=", 2)
        if variable not in os.environ:
            raise ValueError(f"set {variable} to the secret, or the public key, of dialect {name}")
        secrets[name] = os.environ[variable].encode()
    speakers = speakers_of(secrets, broken.speaker)
    players = [_player(one) for one in given.player]
    book = broken.open_book(given.book)
    for player, currency, amount in players:
        book.open(player, currency, amount)
    for player in given.signed_out:
        book.sign_out(player)
    ending = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, ending.set)
    async with broken.wallet(book, speakers, host=given.host, port=given.port) as wallet:
        for name in speakers:
            sys.stdout.write(f"{name} {wallet.address_of(name)}\n")
        sys.stdout.flush()
        await ending.wait()


def _player(text: str) -> tuple[str, str, int]:
    player, currency, amount = _parts(text, ":", 3)
    if not amount.isdecimal():
        raise ValueError(f"{text}: the amount is a whole number of minor units")
    return player, currency, int(amount)


def _parts(text: str, separator: str, parts: int) -> tuple[str, ...]:
    found = tuple(text.split(separator))
    if len(found) != parts or not all(found):
        raise ValueError(f"{text}: wanted are {parts} parts with {separator!r} between them")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; the exit status is 0, or 2 where it was told nonsense."""
    given = arguments().parse_args(argv)
    try:
        asyncio.run(serve(given))
    except (ValueError, OSError, sqlite3.Error, DialectInvalid, KeyInvalid) as error:
        sys.stderr.write(f"{error}\n")
        return _MISUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
