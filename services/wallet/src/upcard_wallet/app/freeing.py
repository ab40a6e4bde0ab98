"""Giving held money back: what releases, refunds of cancelled rounds and holds without a stake share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.hold_records import grouped, wager_of
from upcard_wallet.app.ports import Hold, HoldChange, Posting
from upcard_wallet.app.purse import AccountRef, FreedHold
from upcard_wallet.app.wallet import Origin
from upcard_wallet.domain.events import HoldReleased
from upcard_wallet.domain.ids import release_key


def free_holds(
    draft: Draft,
    books: Books,
    accounts: Mapping[str, AccountRef],
    holds: Sequence[Hold],
    reason: str,
    origin: Origin,
) -> None:
    """Draft the release of locked holds that are `held` or `requested`; others are left alone.

    Held money is posted back, one transaction an account and round; of a requested hold, for which nothing
    was posted, only its purse is told.
    """
    open_holds = [hold for hold in holds if hold.state in ("held", "requested")]
    for (name, round_name), those in grouped(open_holds).items():
        account = accounts[name]
        held = [hold for hold in those if hold.state == "held"]
        for hold in those:
            was_held = hold.state == "held"
            draft.change_hold(HoldChange(hold.hold, "released" if was_held else "unknown", reason))
            draft.free(
                FreedHold(
                    account,
                    hold.round,
                    hold.bet_id,
                    hold.hold,
                    hold.amount,
                    hold.funding,
                    "held" if was_held else "requested",
                )
            )
        if held:
            _post_back(draft, books, account, round_name, held, reason, origin)


def _post_back(  # noqa: PLR0913, PLR0917 - one place, and everything is needed
    draft: Draft,
    books: Books,
    account: AccountRef,
    round_name: str,
    held: Sequence[Hold],
    reason: str,
    origin: Origin,
) -> None:
    back: dict[int, int] = {}
    for hold in held:
        book = books.cash(account) if hold.funding is None else books.free_bet(hold.funding, account)
        if book is None:
            raise RuntimeError(f"free bet {hold.funding} is not there any more")
        back[book] = back.get(book, 0) + hold.amount
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "release",
        release_key(hold.hold for hold in held),
        [
            Posting(books.of(account).held, account.currency, -sum(back.values())),
            *(Posting(book, account.currency, amount) for book, amount in back.items()),
        ],
        event=event,
        account=account.account,
        round_name=round_name,
        cause_event=UUID(origin.causation_id) if origin.causation_id else None,
    )
    released = HoldReleased(round_name, str(transaction), reason, tuple(map(wager_of, held)))
    draft.tell(account.account, released, origin, event)


def free_bets_of(holds: Iterable[Hold], accounts: Mapping[str, AccountRef]) -> set[tuple[str, AccountRef]]:
    """The free bets that paid holds, each with whose hold it was."""
    return {(hold.funding, accounts[hold.account]) for hold in holds if hold.funding is not None}
