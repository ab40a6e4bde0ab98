"""The bonus service's calls (proto/upcard/bonus/v1)."""

from upcard_bonus.entrypoints.grpc.access import BONUS, exposed_bonus
from upcard_bonus.entrypoints.grpc.desk import Desk

__all__ = ["BONUS", "Desk", "exposed_bonus"]
