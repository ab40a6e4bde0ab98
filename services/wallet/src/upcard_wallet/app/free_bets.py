"""Free bets: money of the house that a player may stake, and does not get with the win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.follow_rounds import UnknownAccount
from upcard_wallet.app.ports import Posting
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.events import FreeBetPosted


@dataclass(frozen=True, slots=True)
class Granted:
    """A free bet was granted (`FreeBetGranted`): house → promo."""

    free_bet: str
    player: str
    currency: str
    amount: int
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class Expired:
    """A free bet expired (`FreeBetExpired`): what is left of it → house."""

    free_bet: str
    cause_event: UUID


async def post_free_bets(
    wallet: Wallet, connection: Connection, facts: Sequence[Granted | Expired], origin: Origin
) -> Sequence[StreamAppend]:
    """Post facts in their order, each once; `FreeBetPosted`. Returns the appends. Raises UnknownAccount."""
    if not facts:
        return ()
    ledger = wallet.ledger
    granted = [fact for fact in facts if isinstance(fact, Granted)]
    by_player = await ledger.accounts_of(connection, {(fact.player, fact.currency) for fact in granted})
    owners: dict[str, AccountRef] = {}
    for grant in granted:
        account = by_player.get((grant.player, grant.currency))
        if account is None:
            raise UnknownAccount(f"{grant.player} has no account in {grant.currency}")
        owners[grant.free_bet] = account
    names = {fact.free_bet for fact in facts}
    owners = await ledger.free_bet_owners(connection, names - owners.keys()) | owners
    found = await ledger.free_bet_books(connection, owners.items(), make=True)
    promo = {name: book for (name, _), book in found.items()}
    books = Books(wallet)
    await books.find(connection, owners.values(), kinds=("house",))
    draft = Draft(wallet)
    await draft.lock(connection, promo.values())
    done = set(await ledger.posted(connection, {_key(fact) for fact in facts}))
    for fact in facts:
        owner = owners.get(fact.free_bet)
        if owner is None or _key(fact) in done:
            continue  # an expiry without a grant has nothing to give back
        if fact.free_bet not in promo:
            raise ValueError(f"free bet {fact.free_bet} is another account's")
        done.add(_key(fact))
        own_origin = replace(origin, causation_id=str(fact.cause_event))
        _post(draft, books, owner, promo[fact.free_bet], fact, own_origin)
    return await draft.store(connection)


def _key(fact: Granted | Expired) -> str:
    if isinstance(fact, Granted):
        return f"free_bet/{fact.free_bet}/granted"
    # It may expire again: a hold that was released later has given something back to it.
    return f"free_bet/{fact.free_bet}/expired/{fact.cause_event}"


def _post(
    draft: Draft, books: Books, account: AccountRef, promo: int, fact: Granted | Expired, origin: Origin
) -> None:
    amount = fact.amount if isinstance(fact, Granted) else -draft.balances[promo]
    if amount == 0:
        return
    kind: Literal["granted", "expired"] = "granted" if isinstance(fact, Granted) else "expired"
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        f"free_bet_{kind}",
        _key(fact),
        [
            Posting(promo, account.currency, amount),
            Posting(books.operators("house", account), account.currency, -amount),
        ],
        event=event,
        account=account.account,
        cause_event=fact.cause_event,
    )
    draft.tell(account.account, FreeBetPosted(fact.free_bet, str(transaction), kind, amount), origin, event)
