"""Problems of sessions, players and transfer wallets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_platform.problem_kinds import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = {
    "player_unknown": ProblemKind(
        404,
        "No such player",
        "none_moved",
        "after_change",
        "The id is not one of yours: a player is known from their first launch on, until they are erased.",
    ),
    "session_unknown": ProblemKind(
        404,
        "No such session",
        "none_moved",
        "never",
        "Look at the id: either it was never here, or it is not yours.",
    ),
    "session_ended": ProblemKind(
        409,
        "The session has ended",
        "none_moved",
        "after_change",
        "Launch a new session for the player.",
    ),
    "launch_token_invalid": ProblemKind(
        403,
        "The launch token opens nothing",
        "none_moved",
        "after_change",
        "It was used, is too old, or never was one: launch anew.",
    ),
    "currency_refused": ProblemKind(
        409,
        "The operator does not play in this currency",
        "none_moved",
        "after_change",
        "Use a currency of the operator's, or have this one added.",
    ),
    "account_unknown": ProblemKind(
        404,
        "The player has no account in this currency",
        "none_moved",
        "after_change",
        "Launch a session in the currency first: that opens the account.",
    ),
    "wallet_is_seamless": ProblemKind(
        409,
        "The money lies with the operator",
        "none_moved",
        "never",
        "Deposits and withdrawals are for transfer wallets; a seamless wallet is asked for each bet instead.",
    ),
    "funds_refused": ProblemKind(
        409,
        "The player has too little",
        "none_moved",
        "after_change",
        "Look at the balance (what is held for open rounds cannot be taken), then ask with a new request_id.",
    ),
    "debt_open": ProblemKind(
        409,
        "The player owes something",
        "none_moved",
        "after_change",
        "A correction took back more than the player had. Nothing can be withdrawn until that is settled.",
    ),
    "player_has_money": ProblemKind(
        409,
        "The player has money or an open round",
        "none_moved",
        "after_change",
        "Withdraw the balance, wait for open rounds to end, then ask with a new request_id.",
    ),
}
