"""The history's calls (proto/upcard/history/v1)."""

from upcard_history.entrypoints.grpc.access import exposed_history
from upcard_history.entrypoints.grpc.asking import HISTORY_ERRORS, Desk

__all__ = ["HISTORY_ERRORS", "Desk", "exposed_history"]
