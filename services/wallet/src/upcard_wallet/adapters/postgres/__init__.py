"""The ledger on PostgreSQL: each table's SQL stands next to the one class that owns it."""

from upcard_wallet.adapters.postgres.ledger import PostgresLedger

__all__ = ["PostgresLedger"]
