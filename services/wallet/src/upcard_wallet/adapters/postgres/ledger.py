"""All of the ledger's tables behind one object: it implements `app.ports.Ledger`."""

from __future__ import annotations

from upcard_wallet.adapters.postgres.accounts import AccountTables
from upcard_wallet.adapters.postgres.holds import HoldTables
from upcard_wallet.adapters.postgres.postings import PostingTables
from upcard_wallet.adapters.postgres.reports import Reports


class PostgresLedger(AccountTables, HoldTables, PostingTables, Reports):
    """The ledger. One a process: it remembers accounts and books, which never change once they are stored."""
