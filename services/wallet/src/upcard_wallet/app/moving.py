"""One amount between a player's book and another: what deposits, withdrawals, tips and adjustments share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.balance import Balance, balance_of
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.ports import Posting
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import WalletEvent

MOST_KEY_CHARACTERS = 300
"""Longest business key that a caller may give."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Money was moved, now or by the same command before."""

    transaction: str
    balance: Balance
    """After it; when it had been done before, as it is now."""


@dataclass(frozen=True, slots=True)
class Move:
    """Change a player's book, and another book by the opposite."""

    kind: str
    account: AccountRef
    amount: int
    """Change of the player's book, signed, minor units."""
    business_key: str
    against: str
    """The kind of the operator's book on the other side."""
    book: Literal["cash", "receivable"] = "cash"
    round: str | None = None
    without_debt: bool = False
    """Whether it is refused while the player owes something."""


def key_is_right(business_key: str) -> bool:
    """Whether a caller's business key can be kept."""
    return 0 < len(business_key) <= MOST_KEY_CHARACTERS and business_key.isprintable()


async def move(
    wallet: Wallet,
    connection: Connection,
    wanted: Move,
    event_of: Callable[[str], WalletEvent],
    origin: Origin,
) -> Done[Moved | Refused]:
    """Post it once. `event_of` makes the event from the transaction's id.

    Refused: `funds_refused`, `debt_open`, `business_key_reused`.
    """
    account = wanted.account
    books = Books(wallet)
    await books.find(connection, [account], kinds=("operator", wanted.against))
    target = books.cash(account) if wanted.book == "cash" else books.of(account).receivable
    other = books.operators(wanted.against, account)
    draft = Draft(wallet)
    await draft.lock(connection, books.to_lock(account))
    business_key = f"{wanted.kind}/{wanted.business_key}"
    # After the lock: whoever did the same before has committed.
    before = (await wallet.ledger.posted(connection, [business_key])).get(business_key)
    if before is not None:
        if before.account != account.account or before.amounts != {
            target: wanted.amount,
            other: -wanted.amount,
        }:
            return Done(Refused("business_key_reused"))
        return Done(Moved(str(before.transaction), await balance_of(wallet, connection, account)))
    refusal = _refusal(draft, books, wanted, target)
    if refusal is not None:
        return Done(Refused(refusal))
    event = wallet.recorder.new_id()
    transaction = draft.post(
        wanted.kind,
        business_key,
        [
            Posting(target, account.currency, wanted.amount),
            Posting(other, account.currency, -wanted.amount),
        ],
        event=event,
        account=account.account,
        round_name=wanted.round,
        cause_event=UUID(origin.causation_id) if origin.causation_id else None,
    )
    draft.tell(account.account, event_of(str(transaction)), origin, event)
    appends = await draft.store(connection)
    return Done(Moved(str(transaction), await balance_of(wallet, connection, account)), appends)


def _refusal(draft: Draft, books: Books, wanted: Move, target: int) -> str | None:
    own = books.of(wanted.account)
    if wanted.without_debt and draft.balances[own.receivable] < 0:
        return "debt_open"
    if wanted.book == "receivable":
        return "funds_refused" if draft.balances[target] + wanted.amount > 0 else None
    if target in draft.balances and draft.balances[target] + wanted.amount < 0:
        return "funds_refused"
    return None
