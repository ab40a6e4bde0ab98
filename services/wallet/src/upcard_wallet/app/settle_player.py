"""One player's revision of a round: from lines, holds and what there is to one balanced transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from rules_core.round.events import PlayerSettled
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.ports import Hold, HoldChange, Posting, Settlement
from upcard_wallet.app.purse import AccountRef, SettledPlayer
from upcard_wallet.app.wallet import Origin
from upcard_wallet.domain.events import WagersSettled
from upcard_wallet.domain.ids import settlement_key
from upcard_wallet.domain.settling import (
    Available,
    Leg,
    Result,
    Revision,
    StakeKey,
    Standing,
    match_holds,
    result_of,
    settle_again,
    settle_first,
)


class RevisionMissing(Exception):
    """A revision came without the one before it."""


@dataclass(frozen=True, slots=True)
class Settling:
    """A `PlayerSettled`, with whose and which round it is."""

    round: str
    account: AccountRef
    event: PlayerSettled
    cause_event: UUID

    result: Result
    """Its lines, summed up."""

    @classmethod
    def of(cls, round_name: str, account: AccountRef, event: PlayerSettled, cause_event: UUID) -> Self:
        """Of an event."""
        result = result_of(line for box in event.boxes for line in box.lines)
        return cls(round_name, account, event, cause_event, result)

    @property
    def about(self) -> str:
        """What an alarm names."""
        return f"{self.round}/{self.account.player}"


def settle_player(
    draft: Draft,
    books: Books,
    settling: Settling,
    before: Settlement | None,
    holds: Sequence[Hold],
    origin: Origin,
) -> tuple[Settlement, list[Hold]] | None:
    """Draft one revision; gives its row, and the holds that it settled. None: it was posted before.

    `holds` are the player's locked ones of this round that are held. Raises RevisionMissing.
    """
    revision = settling.event.revision
    latest = before.revision if before is not None else 0
    if revision <= latest:
        return None
    if revision != latest + 1:
        raise RevisionMissing(f"{settling.about}: revision {revision} came after {latest}")
    result = settling.result
    if before is None:
        settled = _staked_holds(settling.event, holds)
        held = sum(hold.amount for hold in settled)
        done = Revision(settle_first(result, held), Standing(result), 0, 0)
        missing = result.all_staked - held
    else:
        settled = []
        missing = 0
        done = _again(draft, books, settling, Standing.of_json(before.result), result)
    for hold in settled:
        draft.change_hold(HoldChange(hold.hold, "settled"))
    row = _store(draft, books, settling, done, missing, origin)
    _watch(draft, settling, done, missing)
    return row, settled


def _staked_holds(event: PlayerSettled, holds: Sequence[Hold]) -> list[Hold]:
    """The holds that the stakes were made of."""
    by_key: dict[StakeKey, list[Hold]] = {}
    for hold in holds:
        by_key.setdefault(StakeKey(hold.box, hold.wager, hold.funding), []).append(hold)
    stakes: dict[StakeKey, int] = {}
    for box in event.boxes:
        for line in box.lines:
            key = StakeKey(box.box, line.wager, line.funding)
            stakes[key] = stakes.get(key, 0) + line.stake
    settled: list[Hold] = []
    for key, stake in stakes.items():
        settled += match_holds(stake, by_key.get(key, ()))[0]
    return settled


def _again(draft: Draft, books: Books, settling: Settling, before: Standing, result: Result) -> Revision:
    account = settling.account
    names = {*before.result.free_bets, *result.free_bets}
    available = Available(
        cash=draft.balances[books.cash(account)] if books.limited(account) else None,
        promo={name: _in_free_bet(draft, books, name, account) for name in names},
        owed=-draft.balances[books.of(account).receivable],
    )
    return settle_again(before, result, available)


def _in_free_bet(draft: Draft, books: Books, name: str, account: AccountRef) -> int:
    book = books.free_bet(name, account)
    return 0 if book is None else draft.balances[book]


def _store(
    draft: Draft, books: Books, settling: Settling, done: Revision, missing: int, origin: Origin
) -> Settlement:
    account, event = settling.account, settling.event
    event_id = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "settlement" if event.revision == 1 else "correction",
        settlement_key(settling.round, account.player, event.revision),
        list(_postings(books, account, done.legs)),
        event=event_id,
        account=account.account,
        round_name=settling.round,
        revision=event.revision,
        cause_event=settling.cause_event,
    )
    result = done.standing.result
    posted = WagersSettled(
        round=settling.round,
        revision=event.revision,
        transaction=str(transaction),
        staked=event.staked,
        returned=event.returned,
        paid=result.paid,
        cash=sum(leg.amount for leg in done.legs if leg.role == "cash"),
        owed=done.owed_more,
        suspense=missing,
        forgone=done.forgone_more,
    )
    draft.tell(account.account, posted, origin, event_id)
    row = Settlement(
        settling.round,
        account.player,
        event.revision,
        account.account,
        event.staked,
        event.returned,
        settling.cause_event,
        done.standing.as_json(),
    )
    note = SettledPlayer(account, settling.round, event.revision, result.paid, settling.cause_event)
    draft.settle(row, note)
    return row


def _postings(books: Books, account: AccountRef, legs: Iterable[Leg]) -> Iterable[Posting]:
    own = books.of(account)
    for leg in legs:
        if leg.role == "cash":
            book = books.cash(account)
        elif leg.role == "held":
            book = own.held
        elif leg.role == "receivable":
            book = own.receivable
        elif leg.role == "promo":
            # A free bet that nobody granted: people look at what is in suspense.
            found = books.free_bet(leg.free_bet or "", account)
            book = books.operators("suspense", account) if found is None else found
        else:
            book = books.operators(leg.role, account)
        yield Posting(book, account.currency, leg.amount)


def _watch(draft: Draft, settling: Settling, done: Revision, missing: int) -> None:
    watcher, currency = draft.wallet.watcher, settling.account.currency
    watcher.settled(1, settling.event.revision)
    if missing:
        watcher.suspense(currency, missing, settling.about)
    if done.owed_more > 0:
        watcher.owed(currency, done.owed_more, settling.about)
