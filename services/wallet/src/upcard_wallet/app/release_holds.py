"""Releasing holds: whole ones, and never without the word of the table's owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Final, Literal
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.freeing import free_bets_of, free_holds
from upcard_wallet.app.ports import HoldsWanted
from upcard_wallet.app.wallet import Done, Origin, Wallet
from upcard_wallet.domain.holds import HoldState

ReleaseReason = Literal["withdrawn", "declined", "round_cancelled", "no_stake", "command"]

Released = Literal["released", "releasing", "settled", "refused", "hold_unknown"]
"""`releasing`: the partner's answer is still open, it is rolled back. `hold_unknown`: no such hold."""

MAX_HOLDS = 5_000
"""Most holds of one call: the event that tells of them all is one."""


async def release_holds(
    wallet: Wallet,
    connection: Connection,
    holds: Sequence[UUID],
    reason: ReleaseReason,
    origin: Origin,
) -> Done[Mapping[UUID, Released]]:
    """Give held money back: held → cash (seamless: → operator, and a rollback is queued) or the free bet.

    `HoldReleased`, one an account and round. Each hold gets an answer of its own; what is released, settled
    or refused already stays so. Of a command that a partner is being asked for, all are given up. Raises
    ValueError for more than `MAX_HOLDS`.
    """
    if len(holds) > MAX_HOLDS:
        raise ValueError(f"at most {MAX_HOLDS} holds at once, not {len(holds)}")
    ledger = wallet.ledger
    rows = await ledger.lock_holds(connection, HoldsWanted(holds=holds), MAX_HOLDS)
    accounts = await ledger.accounts(connection, {hold.account for hold in rows.values()})
    books = Books(wallet)
    free_bets = free_bets_of(rows.values(), accounts)
    await books.find(connection, accounts.values(), kinds=("operator",), free_bets=free_bets)
    draft = Draft(wallet)
    promo = [book for book in starmap(books.free_bet, free_bets) if book is not None]
    await draft.lock(
        connection, [*promo, *(book for ref in accounts.values() for book in books.to_lock(ref))]
    )
    free_holds(draft, books, accounts, list(rows.values()), reason, origin)
    answers = {hold: _ANSWERS[rows[hold].state] if hold in rows else "hold_unknown" for hold in holds}
    return Done(answers, await draft.store(connection))


_ANSWERS: Final[Mapping[HoldState, Released]] = {
    "held": "released",
    "released": "released",
    "requested": "releasing",
    "unknown": "releasing",
    "settled": "settled",
    "refused": "refused",
}
