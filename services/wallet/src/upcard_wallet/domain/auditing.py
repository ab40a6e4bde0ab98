"""What an event says that its ledger transaction posted: a second opinion, from the event alone."""

from __future__ import annotations

from collections.abc import Mapping

from upcard_wallet.domain.events import (
    Adjusted,
    BonusCredited,
    DebtRecorded,
    Deposited,
    FreeBetPosted,
    HoldPlaced,
    HoldReleased,
    JackpotPosted,
    JackpotShareCorrected,
    TipPosted,
    WagersSettled,
    WalletEvent,
    Withdrawn,
)

Expected = Mapping[str, int]
"""Change by kind of book, signed, minor units. `cash`: the player's, or a partner's operator's."""


def expected_of(event: WalletEvent) -> tuple[str, Expected] | None:  # noqa: C901, PLR0911, PLR0912 - a case each
    """The ledger transaction that an event names, and what that must have posted; None: it names none."""
    match event:
        case Deposited(transaction, amount):
            return transaction, {"cash": amount, "cashier": -amount}
        case Withdrawn(transaction, amount):
            return transaction, {"cash": -amount, "cashier": amount}
        case HoldPlaced(transaction=transaction, holds=holds):
            return transaction, {"player_held": sum(hold.amount for hold in holds)}
        case HoldReleased(transaction=str(transaction), holds=holds):
            return transaction, {"player_held": -sum(hold.amount for hold in holds)}
        case WagersSettled(transaction=transaction, cash=cash, owed=owed):
            return transaction, {"cash": cash, "player_receivable": -owed}
        case BonusCredited(transaction=transaction, amount=amount, kind="jackpot"):
            return transaction, {"cash": amount, "jackpot": -amount}
        case BonusCredited(transaction=transaction, amount=amount):
            return transaction, {"cash": amount}
        case JackpotPosted(transaction=transaction, kind="hit" | "correction", house=house):
            return transaction, {"jackpot": house, "house": -house}
        case JackpotPosted(transaction=transaction, amount=amount):
            return transaction, {"jackpot": amount, "house": -amount}
        case JackpotShareCorrected(transaction=transaction, amount=amount, owed=owed):
            return transaction, {"cash": amount, "player_receivable": -owed, "jackpot": owed - amount}
        case TipPosted(transaction, amount):
            return transaction, {"cash": -amount, "tips": amount}
        case FreeBetPosted(transaction=transaction, amount=amount):
            return transaction, {"player_promo": amount, "house": -amount}
        case Adjusted(transaction=transaction, book=book, amount=amount, against=against):
            return transaction, {"cash" if book == "cash" else "player_receivable": amount, against: -amount}
        case DebtRecorded(transaction, amount):
            return transaction, {"cash": amount, "player_receivable": -amount}
        case _:
            return None
