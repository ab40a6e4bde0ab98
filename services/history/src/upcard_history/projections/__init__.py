"""The views: tables of their own, made of the mirrored log alone, and rebuilt beside the live ones."""

from typing import Final

from eventstore.projections import Projection
from upcard_history.projections.accounts import ACCOUNTS
from upcard_history.projections.rounds import ROUNDS
from upcard_history.projections.tables import TABLES

PROJECTIONS: Final[tuple[Projection, ...]] = (ROUNDS, ACCOUNTS, TABLES)
"""All of them."""

__all__ = ["ACCOUNTS", "PROJECTIONS", "ROUNDS", "TABLES"]
