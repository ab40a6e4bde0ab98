"""Adjustments: two people move money by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from eventstore.postgres import Connection
from upcard_wallet.app.moving import Move, Moved, key_is_right, move
from upcard_wallet.app.purse import AccountRef, Credit
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import Adjusted
from upcard_wallet.domain.ids import is_amount, is_round

_is_reason = re.compile("[a-z][a-z0-9_]{0,99}").fullmatch
_is_staff = re.compile("staff:[A-Za-z0-9_-]{1,64}").fullmatch


@dataclass(frozen=True, slots=True)
class Adjust:
    """Move money between a player's book and the operator's house or suspense."""

    account: str
    amount: int
    """Change of the player's book, signed, not zero, minor units."""
    book: Literal["cash", "receivable"]
    """`receivable` with an amount above zero writes off what the player owes."""
    against: Literal["house", "suspense"]
    reason: str
    """A slug, 1 to 100 characters."""
    proposer: str
    """`staff:<id>`, authenticated."""
    approver: str
    """`staff:<id>`, authenticated, another person."""
    business_key: str
    round: str | None = None
    """The round that it is about."""


async def adjust(
    wallet: Wallet, connection: Connection, command: Adjust, origin: Origin
) -> Done[Moved | Refused]:
    """Post it; `Adjusted`. The same business key again has no second effect.

    Refused: `account_unknown`, `amount_invalid`, `two_people_needed` (the same person, or not staff),
    `reason_invalid`, `funds_refused` (cash of a limited purse, or a receivable above zero),
    `partner_cannot_be_debited` (a seamless player's cash downward), `business_key_reused`,
    `business_key_invalid`, `round_invalid`.
    """
    account = (await wallet.ledger.accounts(connection, [command.account])).get(command.account)
    if account is None:
        return Done(Refused("account_unknown"))
    refusal = _refusal(command, account)
    if refusal is not None:
        return Done(Refused(refusal))

    def event_of(transaction: str) -> Adjusted:
        return Adjusted(
            transaction,
            command.book,
            command.amount,
            command.against,
            command.reason,
            command.proposer,
            command.approver,
            command.round,
        )

    wanted = Move(
        "adjustment",
        account,
        command.amount,
        command.business_key,
        command.against,
        command.book,
        command.round,
    )
    done = await move(wallet, connection, wanted, event_of, origin)
    if account.purse == "seamless" and command.book == "cash" and done.appends:
        # It is posted; the partner has yet to give it to the player.
        note = Credit(
            account, command.amount, "adjustment", f"adjustment/{command.business_key}", command.round, None
        )
        await wallet.purses[account.purse].credit(connection, [note])
    return done


def _refusal(command: Adjust, account: AccountRef) -> str | None:
    if command.amount == 0 or not is_amount(abs(command.amount)):
        return "amount_invalid"
    if not _is_reason(command.reason):
        return "reason_invalid"
    if not key_is_right(command.business_key):
        return "business_key_invalid"
    if command.round is not None and not is_round(command.round):
        return "round_invalid"
    people = {command.proposer, command.approver}
    if len(people) < 2 or not all(map(_is_staff, people)):
        return "two_people_needed"
    if account.purse == "seamless" and command.book == "cash" and command.amount < 0:
        return "partner_cannot_be_debited"
    return None
