"""Ids that follow from what they are for, so that the same thing asked twice is the same row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from uuid import UUID, uuid5

from rules_core.log.content import is_opaque_id

__all__ = [
    "LARGEST_AMOUNT",
    "TIP",
    "account_stream",
    "hold_id",
    "is_actor",
    "is_amount",
    "is_currency",
    "is_opaque_id",
    "is_round",
    "is_wager",
    "placing_key",
    "pool_stream",
    "release_key",
    "settlement_key",
    "tip_name",
    "tip_round",
    "transaction_id",
]

_WALLET: Final = UUID("6f0f2f2a-5b0e-4a55-9c43-7c1d7c6f3a10")
_HOLDS: Final = uuid5(_WALLET, "hold")
_TRANSACTIONS: Final = uuid5(_WALLET, "transaction")
_TIPS: Final = uuid5(_WALLET, "tip")
_ACCOUNTS: Final = uuid5(_WALLET, "account")

_is_round = re.compile(r"[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}").fullmatch
_is_currency = re.compile("[A-Z]{3}").fullmatch
_is_actor = re.compile("(?:player|dealer|staff):[A-Za-z0-9_-]{1,64}|platform|system").fullmatch
_is_wager = re.compile("[a-z_]{1,40}").fullmatch

LARGEST_AMOUNT: Final = 2**53 - 1
"""Most minor units of one amount: what every JSON reader still reads exactly."""


def is_round(text: str) -> bool:
    """Whether a text can name a round: `<table>.<number>`, the name of its stream without `round-`."""
    return _is_round(text) is not None


def is_currency(text: str) -> bool:
    """Whether a text has the form of a currency: three capital letters."""
    return _is_currency(text) is not None


def is_actor(text: str) -> bool:
    """Whether a text names who acts, as events do."""
    return _is_actor(text) is not None


def is_wager(text: str) -> bool:
    """Whether a text has the form of a wager's name."""
    return _is_wager(text) is not None


def is_amount(value: int) -> bool:
    """Whether a number is an amount that can be asked for: above zero, and exact everywhere."""
    return 0 < value <= LARGEST_AMOUNT


def hold_id(round_name: str, player: str, bet_id: str, box: int, wager: str) -> UUID:
    """The id of a hold: of one wager of one box of one command. None of the parts has a slash in it."""
    return uuid5(_HOLDS, f"{round_name}/{player}/{bet_id}/{box}/{wager}")


def transaction_id(business_key: str) -> UUID:
    """The id of a ledger transaction, from what it is for."""
    return uuid5(_TRANSACTIONS, business_key)


def placing_key(round_name: str, player: str, bet_id: str) -> str:
    """Business key of the transaction that holds the money of one command."""
    return f"hold/{round_name}/{player}/{bet_id}"


TIP: Final = "tip"
"""The wager under which the money of a seamless player's tip is held; no round has such a wager."""


def tip_name(business_key: str) -> str:
    """What a tip is called where a command needs its `bet_id`."""
    return uuid5(_TIPS, business_key).hex


def tip_round(business_key: str) -> str:
    """What a tip is called where a partner needs a round: each is one of its own, `tip-<32 hex>.1`."""
    return f"tip-{tip_name(business_key)}.1"


def release_key(holds: Iterable[UUID]) -> str:
    """Business key of a release of these holds. A hold is released once, so its least id is enough."""
    return f"release/{min(holds)}"


def settlement_key(round_name: str, player: str, revision: int) -> str:
    """Business key of a player's revision."""
    return f"settle/{round_name}/{player}/{revision}"


def pool_stream(jackpot: str) -> str:
    """The stream of a jackpot's postings in this service's log: a pool is an account without a player."""
    return f"account-{uuid5(_ACCOUNTS, f'jackpot/{jackpot}')}"


def account_stream(account: str) -> str:
    """The stream of an account."""
    return f"account-{account}"
