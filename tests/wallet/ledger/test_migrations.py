from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import asyncpg

from eventstore.migrations import pending_migrations
from tests.eventstore.test_migrations import SQUAWK_LEAVES_OUT
from upcard_wallet.migrations import COMPONENT, prepare_wallet, wallet_migrations


async def test_migrating_again_does_nothing(database: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        assert await prepare_wallet(connection) == ()
        assert await pending_migrations(connection, COMPONENT, wallet_migrations()) == ()
    finally:
        await connection.close()


def test_squawk_finds_nothing_in_the_migrations() -> None:
    paths = sorted(str(one) for one in (files("upcard_wallet.migrations") / "sql").iterdir())
    ran = subprocess.run(
        [
            Path(sys.executable).with_name("squawk"),
            "--assume-in-transaction",
            "--pg-version=18.0",
            "--reporter=gcc",
            *(f"--exclude={rule}" for rule in SQUAWK_LEAVES_OUT),
            *paths,
        ],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stdout + ran.stderr
