"""What other services' events do to the money: handlers behind the consumers of their topics."""

from upcard_wallet.entrypoints.consumer.bonus import BONUS_EVENTS, bonus_handler
from upcard_wallet.entrypoints.consumer.table import TABLE_EVENTS, table_handler

__all__ = ["BONUS_EVENTS", "TABLE_EVENTS", "bonus_handler", "table_handler"]
