"""Everything that the demonstration runs: servers, services, a partner's wallet, and a shoe reader."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stack import Stack
from upcard_operate.demo.operators import SEAMLESS
from upcard_operate.demo.partner import Partner
from upcard_operate.demo.reader_process import ReaderProcess
from upcard_operate.demo.tables import TABLES
from upcard_operate.local.fleet import Fleet


@dataclass(frozen=True, slots=True)
class Installation:
    """What runs, as processes."""

    fleet: Fleet
    partner: Partner
    reader: ReaderProcess
    """Reads the cards of all tables' shoes."""


@contextlib.contextmanager
def installed(stack: Stack, folder: Path, seed: int) -> Iterator[Installation]:
    """Start it all beside running servers; `folder` takes logs and the partner's book.

    Raises ServiceFailed.
    """
    partner = Partner(folder, SEAMLESS.operator)
    # Links to play with are told at the end, and read by people: they are good for as long as may be.
    more = {"wallet": partner.settings(), "gateway": {"UPCARD_LAUNCH_TOKEN_S": "3600"}}
    with Fleet(stack, folder, more=more) as fleet, contextlib.ExitStack() as undo:
        undo.callback(partner.process.stop)
        partner.start()
        reader = ReaderProcess(
            folder,
            fleet.shoe,
            table_address=fleet.address("table"),
            tables=[table.table for table in TABLES],
            seed=seed,
        )
        yield Installation(fleet, partner, undo.enter_context(reader))
