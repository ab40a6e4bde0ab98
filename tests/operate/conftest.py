"""Databases of services, made by the command itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from stack import Stack
from upcard_operate import keys
from upcard_operate.main import program
from upcard_operate.options import SERVICES
from upcard_operate.preparing import database_of, in_database

Upcard = Callable[..., Result]


@pytest.fixture
def upcard(monkeypatch: pytest.MonkeyPatch) -> Upcard:
    """Runs the command with these arguments, and these variables and no others of ours."""
    for name in [name for name in os.environ if name.startswith("UPCARD_")]:
        monkeypatch.delenv(name)

    def run(*arguments: str, **variables: str) -> Result:
        return CliRunner().invoke(program(), list(arguments), env=variables)

    return run


@pytest.fixture(scope="session")
def passwords() -> dict[str, str]:
    """What the services' roles log in with."""
    return {f"UPCARD_{service.upper()}_DATABASE_PASSWORD": keys.password() for service in SERVICES}


@pytest.fixture(scope="session")
def databases(stack: Stack, passwords: dict[str, str]) -> dict[str, str]:
    """The addresses of all services' databases, as UPCARD_<SERVICE>_DSN."""
    admin = stack.databases.admin_dsn
    done = CliRunner().invoke(
        program(), ["database", "create", "--json"], env={"UPCARD_ADMIN_DSN": admin, **passwords}
    )
    assert done.exit_code == 0, done.output
    assert [one["service"] for one in objects(done)] == list(SERVICES)
    assert all(one["applied"] > 8 for one in objects(done))
    return {f"UPCARD_{service.upper()}_DSN": in_database(admin, database_of(service)) for service in SERVICES}


def objects(result: Result) -> list[dict[str, Any]]:
    """Standard output as JSON objects, a line each."""
    return [json.loads(line) for line in result.stdout.splitlines()]
