"""Every migration of every package is linted: a folder `migrations/sql` is found wherever it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house_rules.files import ROOT, repository_files

LEFT_OUT = (
    "require-lock-timeout",  # the runner sets it
    "require-statement-timeout",  # the runner lifts it: what may take long is said in the file
    "prefer-bigint-over-int",  # a month is a small number
    "prefer-bigint-over-smallint",  # so is a shard
)


def migrations() -> list[Path]:
    """All files of migrations."""
    return [path for path in repository_files() if path.parts[-3:-1] == ("migrations", "sql")]


def squawk(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Run the linter on files; it has to be installed."""
    return subprocess.run(
        [
            Path(sys.executable).with_name("squawk"),
            "--assume-in-transaction",
            "--pg-version=18.0",
            "--reporter=gcc",
            *(f"--exclude={rule}" for rule in LEFT_OUT),
            *(ROOT / path for path in paths),
        ],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


def test_nothing_is_found_in_any_migration() -> None:
    assert {path.parts[1] for path in migrations()} >= {
        "eventstore",
        "messaging",
        "table",
        "wallet",
        "bonus",
        "gateway",
        "history",
    }
    ran = squawk(*migrations())
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stdout + ran.stderr


def test_the_linter_finds_what_would_block_a_table(tmp_path: Path) -> None:
    faulty = tmp_path / "0001_faulty.sql"
    faulty.write_text("ALTER TABLE wallet.holds ADD COLUMN note text NOT NULL;\n")
    assert squawk(faulty).returncode != 0
