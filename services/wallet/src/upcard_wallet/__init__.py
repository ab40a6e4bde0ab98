"""The wallet: holds before stakes, a double-entry ledger, every amount traceable to an event."""
