"""Databases in which projections leave nothing behind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import Pool
from tests.eventstore.projections.views import NAME


@pytest.fixture
async def views(pool: Pool) -> AsyncIterator[Pool]:
    """The pool of a database without any projection's tables, before and after."""

    async def drop() -> None:
        for suffix in ("", "_rebuild", "_old"):
            await pool.execute(f'DROP SCHEMA IF EXISTS "{NAME}{suffix}" CASCADE')

    await drop()
    yield pool
    await drop()
