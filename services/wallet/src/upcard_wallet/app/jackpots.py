"""Jackpots: contributions, seeds and hits; the pool's size is a balance of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.follow_rounds import UnknownAccount
from upcard_wallet.app.ports import Posting
from upcard_wallet.app.purse import AccountRef, BookKey, Credit
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.events import BonusCredited, JackpotPosted, JackpotShareCorrected
from upcard_wallet.domain.ids import pool_stream


@dataclass(frozen=True, slots=True)
class Contribution:
    """The house puts a round's contribution into a pool (`JackpotContributed`)."""

    jackpot: str
    operator: str
    """Whose house pays."""
    currency: str
    amount: int
    round: str
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class Seed:
    """The house seeds a pool (`JackpotSeeded`)."""

    jackpot: str
    operator: str
    currency: str
    amount: int
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class Share:
    """What one player gets of a hit, or (signed) by a correction."""

    player: str
    amount: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A pool pays its winners (`JackpotHit`); what the pool lacks the house pays."""

    jackpot: str
    operator: str
    """Whose house pays what the pool lacks."""
    currency: str
    shares: tuple[Share, ...]
    round: str
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class Correction:
    """A round that had an effect on a pool was undone or corrected (`JackpotCorrected`)."""

    jackpot: str
    operator: str
    """Whose house pays the difference, or gets it."""
    currency: str
    pool_change: int
    """Signed."""
    changes: tuple[Share, ...]
    """Signed: what each winner has more, or less."""
    round: str
    cause_event: UUID


JackpotFact = Contribution | Seed | Hit | Correction


async def post_jackpots(
    wallet: Wallet, connection: Connection, facts: Sequence[JackpotFact], origin: Origin
) -> Sequence[StreamAppend]:
    """Post facts in their order, each once (by `cause_event`): `JackpotPosted`; `BonusCredited` for winners.

    Of a correction also `JackpotShareCorrected`: what a player got is taken back as far as it is there, the
    rest is owed. Returns the appends. An amount of zero posts nothing. Raises UnknownAccount.
    """
    facts = [fact for fact in facts if _moves(fact)]
    if not facts:
        return ()
    ledger = wallet.ledger
    winners = {(share.player, fact.currency) for fact in facts for share in _shares(fact)}
    accounts = await ledger.accounts_of(connection, winners)
    if len(accounts) < len(winners):
        player, currency = min(winners - accounts.keys())
        raise UnknownAccount(f"{player} has no account in {currency}")
    books = Books(wallet)
    more = {key for fact in facts for key in (_pool(fact), BookKey("house", fact.operator, fact.currency))}
    await books.find(connection, accounts.values(), kinds=("operator",), more=more)
    draft = Draft(wallet)
    own = [book for account in accounts.values() for book in books.to_lock(account)]
    await draft.lock(connection, [*own, *(books.other(_pool(fact)) for fact in facts)])
    # After the locks: whoever posted one of these before has committed.
    done = set(await ledger.posted(connection, {_key(fact) for fact in facts}))
    for fact in facts:
        if _key(fact) in done:
            continue
        done.add(_key(fact))
        own_origin = replace(origin, causation_id=str(fact.cause_event))
        if isinstance(fact, Hit):
            _pay(draft, books, accounts, fact, own_origin)
        elif isinstance(fact, Correction):
            _correct(draft, books, accounts, fact, own_origin)
        else:
            _fill(draft, books, fact, own_origin)
    return await draft.store(connection)


def _shares(fact: JackpotFact) -> tuple[Share, ...]:
    match fact:
        case Hit(shares=shares) | Correction(changes=shares):
            return shares
        case _:
            return ()


def _total(fact: Hit | Correction) -> int:
    return sum(share.amount for share in _shares(fact))


def _moves(fact: JackpotFact) -> bool:
    """Whether there is anything to post."""
    match fact:
        case Correction(pool_change=pool_change, changes=changes):
            return bool(pool_change) or any(change.amount for change in changes)
        case Hit():
            return _total(fact) > 0
        case _:
            return fact.amount > 0


def _pool(fact: JackpotFact) -> BookKey:
    return BookKey("jackpot", fact.jackpot, fact.currency)


def _key(fact: JackpotFact) -> str:
    return f"jackpot/{fact.jackpot}/{fact.cause_event}"


def _fill(draft: Draft, books: Books, fact: Contribution | Seed, origin: Origin) -> None:
    """House → pool."""
    kind: Literal["contribution", "seed"] = "contribution" if isinstance(fact, Contribution) else "seed"
    round_name = fact.round if isinstance(fact, Contribution) else None
    house = books.other(BookKey("house", fact.operator, fact.currency))
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        f"jackpot_{kind}",
        _key(fact),
        [
            Posting(house, fact.currency, -fact.amount),
            Posting(books.other(_pool(fact)), fact.currency, fact.amount),
        ],
        event=event,
        round_name=round_name,
        cause_event=fact.cause_event,
    )
    posted = JackpotPosted(fact.jackpot, fact.currency, str(transaction), kind, fact.amount, round=round_name)
    draft.tell_stream(pool_stream(fact.jackpot), posted, origin, event)


def _pay(
    draft: Draft,
    books: Books,
    accounts: Mapping[tuple[str, str], AccountRef],
    hit: Hit,
    origin: Origin,
) -> None:
    """Pool → winners, a transaction each; what the pool lacks comes from the house first."""
    pool = books.other(_pool(hit))
    house = books.other(BookKey("house", hit.operator, hit.currency))
    total = _total(hit)
    lacking = max(0, total - draft.balances[pool])
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "jackpot_hit",
        _key(hit),
        # What the house adds goes through the pool, so that each winner is paid by the pool alone.
        [Posting(house, hit.currency, -lacking), Posting(pool, hit.currency, lacking)],
        event=event,
        round_name=hit.round,
        cause_event=hit.cause_event,
    )
    posted = JackpotPosted(
        hit.jackpot, hit.currency, str(transaction), "hit", lacking - total, lacking, hit.round
    )
    draft.tell_stream(pool_stream(hit.jackpot), posted, origin, event)
    for place, share in enumerate(hit.shares):
        if share.amount:
            key = f"{_key(hit)}/{place}"
            _credit(draft, books, accounts[share.player, hit.currency], hit, share.amount, key, origin)


def _credit(  # noqa: PLR0913, PLR0917 - one place, and everything is needed
    draft: Draft, books: Books, account: AccountRef, hit: Hit, amount: int, key: str, origin: Origin
) -> None:
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "jackpot_share",
        key,
        [
            Posting(books.other(_pool(hit)), hit.currency, -amount),
            Posting(books.cash(account), hit.currency, amount),
        ],
        event=event,
        account=account.account,
        round_name=hit.round,
        cause_event=hit.cause_event,
    )
    credited = BonusCredited(str(transaction), amount, "jackpot", hit.round, hit.jackpot)
    draft.tell(account.account, credited, origin, event)
    draft.credit(Credit(account, amount, "jackpot", key, hit.round, hit.cause_event))


def _correct(
    draft: Draft,
    books: Books,
    accounts: Mapping[tuple[str, str], AccountRef],
    correction: Correction,
    origin: Origin,
) -> None:
    """House → pool, or back; then pool → winners, or back, a transaction each."""
    pool = books.other(_pool(correction))
    # A pool is never below zero: what it lacks the house bears, as of a hit.
    pool_change = max(correction.pool_change, -draft.balances[pool])
    house = pool_change + _total(correction)
    house_book = books.other(BookKey("house", correction.operator, correction.currency))
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "jackpot_correction",
        _key(correction),
        [
            Posting(house_book, correction.currency, -house),
            Posting(pool, correction.currency, house),
        ],
        event=event,
        round_name=correction.round,
        cause_event=correction.cause_event,
    )
    posted = JackpotPosted(
        correction.jackpot,
        correction.currency,
        str(transaction),
        "correction",
        pool_change,
        house,
        correction.round,
    )
    draft.tell_stream(pool_stream(correction.jackpot), posted, origin, event)
    for place, change in enumerate(correction.changes):
        if change.amount:
            key = f"{_key(correction)}/{place}"
            account = accounts[change.player, correction.currency]
            _change_share(draft, books, account, correction, change.amount, key, origin)


def _change_share(  # noqa: PLR0913, PLR0917 - one place, and everything is needed
    draft: Draft,
    books: Books,
    account: AccountRef,
    correction: Correction,
    amount: int,
    key: str,
    origin: Origin,
) -> None:
    """More goes to the cash; less is taken from it as far as it is there, and the rest is owed.

    A partner's player owes all of it: a partner can be asked for nothing outside of a round.
    """
    cash = books.cash(account)
    there = draft.balances[cash] if books.limited(account) else 0
    owed = max(0, -amount - there)
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "jackpot_share_correction",
        key,
        [
            Posting(books.other(_pool(correction)), correction.currency, -amount),
            Posting(cash, correction.currency, amount + owed),
            Posting(books.of(account).receivable, correction.currency, -owed),
        ],
        event=event,
        account=account.account,
        round_name=correction.round,
        cause_event=correction.cause_event,
    )
    told = JackpotShareCorrected(str(transaction), amount + owed, correction.round, correction.jackpot, owed)
    draft.tell(account.account, told, origin, event)
    if owed:
        draft.wallet.watcher.owed(correction.currency, owed, f"{correction.jackpot} in {correction.round}")
    if amount > 0:
        draft.credit(Credit(account, amount, "jackpot", key, correction.round, correction.cause_event))
