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
from upcard_wallet.domain.events import BonusCredited, JackpotPosted
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
    """What one player gets of a hit."""

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


JackpotFact = Contribution | Seed | Hit


async def post_jackpots(
    wallet: Wallet, connection: Connection, facts: Sequence[JackpotFact], origin: Origin
) -> Sequence[StreamAppend]:
    """Post facts in their order, each once (by `cause_event`): `JackpotPosted`; `BonusCredited` for winners.

    Returns the appends. An amount of zero posts nothing. Raises UnknownAccount.
    """
    facts = [fact for fact in facts if _total(fact) > 0]
    if not facts:
        return ()
    ledger = wallet.ledger
    winners = {
        (share.player, fact.currency) for fact in facts if isinstance(fact, Hit) for share in fact.shares
    }
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
        else:
            _fill(draft, books, fact, own_origin)
    return await draft.store(connection)


def _total(fact: JackpotFact) -> int:
    return sum(share.amount for share in fact.shares) if isinstance(fact, Hit) else fact.amount


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
