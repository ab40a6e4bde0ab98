"""The wallet's own databases: what is asked for here is asked of a real wallet."""

from __future__ import annotations

from tests.wallet.conftest import database_template, service_database, service_role

__all__ = ["database_template", "service_database", "service_role"]
