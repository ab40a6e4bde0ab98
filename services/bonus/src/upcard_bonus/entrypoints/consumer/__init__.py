"""What the table's events do here: the handler behind the consumer of its topic."""

from upcard_bonus.entrypoints.consumer.table import TABLE_EVENTS, table_handler

__all__ = ["TABLE_EVENTS", "table_handler"]
