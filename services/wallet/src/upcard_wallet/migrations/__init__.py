"""Migrations of the wallet's own tables, beside its event log."""

from importlib.resources import files

from eventstore.migrations import Applied, Migration, load_migrations, migrate
from eventstore.postgres import Connection

COMPONENT = "wallet"
"""Component under which these migrations are noted."""


def wallet_migrations() -> tuple[Migration, ...]:
    """The migrations of this package."""
    return load_migrations(files("upcard_wallet.migrations") / "sql")


async def prepare_wallet(connection: Connection, *, service_role: str | None = None) -> tuple[Applied, ...]:
    """Bring the wallet's tables up to date, as their owner, after the event log's (`prepare_event_log`).

    `service_role` (which exists already) is given what the service needs: it may not change or remove a
    transaction or posting, nor write a balance.
    """
    applied = await migrate(connection, COMPONENT, wallet_migrations())
    if service_role is not None:
        await connection.execute(
            "SELECT wallet.grant_service($1), wallet.grant_partner_calls($1), wallet.grant_audit($1),"
            " wallet.grant_calls($1), wallet.grant_placing($1), wallet.grant_old_holds($1),"
            " wallet.grant_round_totals($1), wallet.grant_parked_endings($1),"
            " wallet.grant_statement_checkpoints($1), wallet.grant_pruning($1)",
            service_role,
        )
    return applied
