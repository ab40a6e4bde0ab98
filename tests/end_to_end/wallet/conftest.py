"""The wallet's databases and its role, as the quick tests have them."""

from tests.wallet.conftest import database_template, service_database, service_role

__all__ = ["database_template", "service_database", "service_role"]
