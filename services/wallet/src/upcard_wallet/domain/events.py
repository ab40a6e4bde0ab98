"""The wallet's events: facts of one account's stream. Amounts are minor units of the account's currency.

Every one that moved money names the ledger transaction that moved it; `cause_event` of that transaction and
the event's `causation_id` name the event of another service that led to it, where one did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

Amount = Annotated[int, "Minor units."]
TransactionId = Annotated[str, "The ledger transaction, a UUID."]
RoundName = Annotated[str, "`<table>.<number>`."]
BetId = Annotated[str, "Id of the command that staked; new for each command, the same in each retry."]


@dataclass(frozen=True, slots=True)
class AccountOpened:
    """An account was opened: one player of an operator in one currency."""

    account: Annotated[str, "The account's opaque id."]
    player: Annotated[str, "The player's opaque id."]
    operator: Annotated[str, "The operator's opaque id."]
    currency: Annotated[str, "Three capital letters."]
    purse: Annotated[Literal["internal", "seamless"], "Where the player's money lies."]


@dataclass(frozen=True, slots=True)
class Deposited:
    """Money came in through the cashier."""

    transaction: TransactionId
    amount: Amount
    reference: Annotated[str | None, "The caller's own id of the payment, opaque."] = None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Money went out through the cashier."""

    transaction: TransactionId
    amount: Amount
    reference: Annotated[str | None, "The caller's own id of the payment, opaque."] = None


@dataclass(frozen=True, slots=True)
class HeldWager:
    """One hold: the money of one wager of one box."""

    hold: Annotated[str, "The hold's id, a UUID."]
    box: Annotated[int, "Box, 1-based from the dealer's left."]
    wager: Annotated[str, "Which wager."]
    amount: Amount
    funding: Annotated[str | None, "Id of the free bet that pays it; absent: cash."] = None


@dataclass(frozen=True, slots=True)
class HoldRequested:
    """A partner is about to be asked for the money of one command; written before any call."""

    round: RoundName
    bet_id: BetId
    holds: tuple[HeldWager, ...]


@dataclass(frozen=True, slots=True)
class HoldPlaced:
    """The money of one command is held."""

    round: RoundName
    bet_id: BetId
    transaction: TransactionId
    holds: tuple[HeldWager, ...]


@dataclass(frozen=True, slots=True)
class HoldDeclined:
    """The money of one command is not held, and will not be."""

    round: RoundName
    bet_id: BetId
    reason: Annotated[str, "Why, a slug."]
    holds: tuple[HeldWager, ...]


@dataclass(frozen=True, slots=True)
class HoldReleased:
    """Holds of one round went back, whole; without a transaction where nothing had been taken for them."""

    round: RoundName
    transaction: Annotated[str | None, "The ledger transaction, a UUID; null: nothing was posted."]
    reason: Annotated[
        str, "`withdrawn`, `declined`, `round_cancelled`, `no_stake`, `command`, `rolled_back` or `tip`."
    ]
    holds: tuple[HeldWager, ...]


@dataclass(frozen=True, slots=True)
class WagersSettled:
    """One revision of a player's result of a round was posted, whole.

    A later revision takes the earlier one back and posts the new one, in one transaction.
    """

    round: RoundName
    revision: Annotated[int, "As in `PlayerSettled`."]
    transaction: TransactionId
    staked: Amount
    returned: Annotated[int, "As in `PlayerSettled`, minor units."]
    paid: Annotated[int, "To cash by this revision as a whole, minor units."]
    cash: Annotated[int, "Change of the cash by this transaction, signed, minor units."]
    owed: Annotated[int, "Change of what the player owes, minor units; above zero: owes more."] = 0
    suspense: Annotated[int, "Stakes for which no money was held, minor units: an alarm."] = 0
    forgone: Annotated[int, "What a free bet lacked and the house bears, minor units."] = 0


@dataclass(frozen=True, slots=True)
class BonusCredited:
    """Money beside a settlement came to the player's cash: a share of a jackpot, a bonus of the house."""

    transaction: TransactionId
    amount: Amount
    kind: Annotated[Literal["jackpot", "bonus"], "What it is."]
    round: Annotated[str | None, "The round that won it."] = None
    source: Annotated[str | None, "The jackpot's or the bonus's opaque id."] = None


@dataclass(frozen=True, slots=True)
class JackpotPosted:
    """A jackpot's pool changed; in the pool's own stream."""

    jackpot: Annotated[str, "The jackpot's opaque id."]
    currency: Annotated[str, "Three capital letters."]
    transaction: TransactionId
    kind: Annotated[Literal["contribution", "seed", "hit", "correction"], "What changed it."]
    amount: Annotated[int, "Change of the pool, signed, minor units."]
    house: Annotated[
        int, "What the house paid beside it, or for it; of a correction signed, minor units."
    ] = 0
    round: Annotated[str | None, "The round that contributed or won."] = None


@dataclass(frozen=True, slots=True)
class JackpotShareCorrected:
    """A round was undone or corrected, so a player has more of a jackpot, or less."""

    transaction: TransactionId
    amount: Annotated[int, "Change of the cash, signed, minor units."]
    round: RoundName
    source: Annotated[str, "The jackpot's opaque id."]
    owed: Annotated[int, "What could not be taken back, and the player owes, minor units."] = 0


@dataclass(frozen=True, slots=True)
class TipPosted:
    """A tip went from the player's cash to the tips."""

    transaction: TransactionId
    amount: Amount
    table: Annotated[str | None, "The table's opaque id."] = None
    dealer: Annotated[str | None, "The dealer's opaque id."] = None


@dataclass(frozen=True, slots=True)
class FreeBetPosted:
    """A free bet's money was made available, or what was left of it went back to the house."""

    free_bet: Annotated[str, "The free bet's opaque id."]
    transaction: TransactionId
    kind: Annotated[Literal["granted", "expired"], "What happened."]
    amount: Annotated[int, "Change of the free bet, signed, minor units."]


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Two people moved money by hand."""

    transaction: TransactionId
    book: Annotated[Literal["cash", "receivable"], "Which of the player's books."]
    amount: Annotated[int, "Change of that book, signed, minor units."]
    against: Annotated[Literal["house", "suspense"], "Where it came from or went."]
    reason: Annotated[str, "Why, a slug."]
    proposer: Annotated[str, "`staff:<id>` who proposed it."]
    approver: Annotated[str, "`staff:<id>` who approved it, another person."]
    round: Annotated[str | None, "The round that it is about."] = None


@dataclass(frozen=True, slots=True)
class DebtRecorded:
    """A partner could not take a win back, so the player owes it to us; two people say so."""

    transaction: TransactionId
    amount: Annotated[int, "How much more the player owes, minor units."]
    call: Annotated[str, "The partner's call that was given up: a UUID."]
    proposer: Annotated[str, "`staff:<id>` who proposed it."]
    approver: Annotated[str, "`staff:<id>` who approved it, another person."]
    round: Annotated[str | None, "The round whose correction it is about."] = None


WalletEvent = (
    AccountOpened
    | Deposited
    | Withdrawn
    | HoldRequested
    | HoldPlaced
    | HoldDeclined
    | HoldReleased
    | WagersSettled
    | BonusCredited
    | JackpotPosted
    | JackpotShareCorrected
    | TipPosted
    | FreeBetPosted
    | Adjusted
    | DebtRecorded
)

EVENT_TYPES: Final[dict[str, tuple[int, type[WalletEvent]]]] = {
    kind.__name__: (1, kind)
    for kind in (
        AccountOpened,
        Deposited,
        Withdrawn,
        HoldRequested,
        HoldPlaced,
        HoldDeclined,
        HoldReleased,
        WagersSettled,
        BonusCredited,
        JackpotPosted,
        JackpotShareCorrected,
        TipPosted,
        FreeBetPosted,
        Adjusted,
        DebtRecorded,
    )
}
"""Every type by name, with the version that is written."""
