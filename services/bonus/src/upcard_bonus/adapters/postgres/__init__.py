"""The tables of schema `bonus`: each file owns some of them."""

from upcard_bonus.adapters.postgres.free_bets import FreeBetTables
from upcard_bonus.adapters.postgres.jackpots import JackpotTables
from upcard_bonus.adapters.postgres.rounds import RoundTables
from upcard_bonus.adapters.postgres.secrets import SecretTable

__all__ = ["FreeBetTables", "JackpotTables", "RoundTables", "SecretTable"]
