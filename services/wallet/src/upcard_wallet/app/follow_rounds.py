"""What the table's events do to the money: the handler behind the consumer of `upcard.table.v1`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection
from rules_core.round.events import (
    BetDeclined,
    BetWithdrawn,
    PlayerSettled,
    RoundCancelled,
    RoundEvent,
    RoundResettled,
    RoundSettled,
)
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.freeing import free_bets_of, free_holds
from upcard_wallet.app.ports import CurrencyTotal, EndedRound, Hold, HoldsWanted, RoundTotals, Settlement
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.settle_player import RevisionMissing, Settling, settle_player
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.ids import hold_id

__all__ = ["FOLLOWED", "RevisionMissing", "RoundFact", "UnknownAccount", "follow_rounds", "free_ended"]

FOLLOWED: Final = frozenset(
    {"BetWithdrawn", "BetDeclined", "PlayerSettled", "RoundSettled", "RoundCancelled", "RoundResettled"}
)
"""Types of events that mean something to the wallet; others may be left out."""

MAX_FREED: Final = 5_000
"""Most holds that the end of rounds frees in one transaction; `free_ended` frees the rest."""

_MOST_ROUNDS: Final = 100

_REASONS: Final[Mapping[str, str]] = {"settled": "no_stake", "cancelled": "round_cancelled"}


@dataclass(frozen=True, slots=True)
class RoundFact:
    """One event of a round's stream, decoded."""

    round: str
    """`<table>.<number>`: the stream's name without `round-`."""
    event_id: UUID
    correlation_id: str
    event: RoundEvent


async def follow_rounds(
    wallet: Wallet, connection: Connection, facts: Sequence[RoundFact]
) -> Sequence[StreamAppend]:
    """Give events their effect, in the order given, in the caller's transaction; exactly once in effect.

    Returns the appends, each stream once: what a handler of `eventstore.following` returns. Events of types
    that are not followed have no effect.

    - `BetWithdrawn`, `BetDeclined`: their holds are released.
    - `PlayerSettled`: revision n is one atomic set, the reversal of n - 1 and the new result. It never fails
      for lack of a hold or of funds: what was not held comes from suspense, what is not there any more is
      owed.
    - `RoundSettled`: the round is over; what is still held had no stake and goes back.
    - `RoundCancelled`: the round is over, every hold goes back.
    - `RoundSettled`, `RoundResettled`: what the round comes to is noted, and compared by the audit.

    Holds whose answer is still open are given to the purse to be rolled back. Of a round with very many holds
    left, the rest is freed by `free_ended`. Raises UnknownAccount (a settled player has none),
    RevisionMissing (n - 1 was not seen: never, when events come in order).
    """
    batch = _Batch(wallet, [fact for fact in facts if type(fact.event).__name__ in FOLLOWED])
    if not batch.facts:
        return ()
    await batch.load(connection)
    for fact in batch.facts:
        batch.apply(fact)
    appends = await batch.draft.store(connection)
    if batch.may_have_left:
        await wallet.ledger.note_unfreed(connection, batch.ending, left=True)
    return appends


async def free_ended(wallet: Wallet, connection: Connection, limit: int = 2_000) -> Sequence[StreamAppend]:
    """Free holds of ended rounds that are still held, at most so many; the caller appends, and calls again.

    Called from time to time, until it gives nothing: there is something when a cancelled round had more
    holds than one transaction takes.
    """
    rounds = await wallet.ledger.unfreed_rounds(connection, _MOST_ROUNDS)
    if not rounds:
        return ()
    batch = _Batch(wallet, ())
    await batch.load(connection, rounds, limit)
    for ended in rounds.values():
        origin = Origin("system", str(ended.cause_event), str(ended.cause_event))
        batch.free_round(ended.round, _REASONS[ended.end_kind], origin)
    appends = await batch.draft.store(connection)
    if not batch.may_have_left:
        await wallet.ledger.note_unfreed(connection, rounds, left=False)
    return appends


class UnknownAccount(Exception):
    """A player was settled who has no account in that currency."""


class _Batch:
    """Facts of one transaction: everything they need is locked first, then each is applied in memory."""

    def __init__(self, wallet: Wallet, facts: Sequence[RoundFact]) -> None:
        self.facts = facts
        self.draft = Draft(wallet)
        self.ending: set[str] = set()
        self.may_have_left = False
        """Whether rounds that end here may have more holds than were locked."""
        self._wallet = wallet
        self._books = Books(wallet)
        self._holds: dict[UUID, Hold] = {}
        """The locked ones that nothing was done with yet."""
        self._by_round: dict[str, list[UUID]] = {}
        self._by_player: dict[tuple[str, str], list[UUID]] = {}
        self._accounts: dict[str, AccountRef] = {}
        self._settlings: dict[UUID, Settling] = {}
        self._latest: dict[tuple[str, str], Settlement] = {}

    async def load(
        self, connection: Connection, more_rounds: Collection[str] = (), limit: int | None = None
    ) -> None:
        """Lock what the facts need, in the order that everybody keeps."""
        ledger = self._wallet.ledger
        self.ending = {
            fact.round for fact in self.facts if isinstance(fact.event, RoundSettled | RoundCancelled)
        }
        self.ending.update(more_rounds)
        await ledger.lock_rounds(connection, exclusive=self.ending)
        settled = [(fact, fact.event) for fact in self.facts if isinstance(fact.event, PlayerSettled)]
        players = {(fact.round, event.player) for fact, event in settled}
        first = {(fact.round, event.player) for fact, event in settled if event.revision == 1}
        named = {hold for fact in self.facts for hold in _named_holds(fact)}
        most = MAX_FREED if limit is None else limit
        self._holds = await ledger.lock_holds(connection, HoldsWanted(named, first, self.ending), most)
        self.may_have_left = sum(hold.round in self.ending for hold in self._holds.values()) >= most
        for hold in self._holds.values():
            self._by_round.setdefault(hold.round, []).append(hold.hold)
            self._by_player.setdefault((hold.round, hold.player), []).append(hold.hold)
        self._accounts = await ledger.accounts(connection, {one.account for one in self._holds.values()})
        by_player = await ledger.accounts_of(
            connection, {(event.player, event.currency) for _, event in settled}
        )
        for fact, event in settled:
            account = by_player.get((event.player, event.currency))
            if account is None:
                raise UnknownAccount(f"{event.player} has no account in {event.currency}")
            self._accounts[account.account] = account
            self._settlings[fact.event_id] = Settling.of(fact.round, account, event, fact.event_id)
        self._latest = await ledger.latest_settlements(connection, players)
        await self._lock_balances(connection)

    async def _lock_balances(self, connection: Connection) -> None:
        free_bets = free_bets_of(self._holds.values(), self._accounts)
        for settling in self._settlings.values():
            names = set(settling.result.free_bets)
            before = self._latest.get((settling.round, settling.account.player))
            if before is not None:
                names.update(before.result["free_bets"])
            free_bets.update((name, settling.account) for name in names)
        books = self._books
        accounts = self._accounts.values()
        kinds = ("house", "operator", "suspense")
        await books.find(connection, accounts, kinds=kinds, free_bets=free_bets)
        promo = [book for book in starmap(books.free_bet, free_bets) if book is not None]
        own = [book for account in accounts for book in books.to_lock(account)]
        if own:
            await self.draft.lock(connection, [*own, *promo])

    def apply(self, fact: RoundFact) -> None:
        """Draft the effect of one fact."""
        origin = Origin("system", fact.correlation_id, str(fact.event_id))
        event = fact.event
        if isinstance(event, BetWithdrawn):
            self._free(_named_holds(fact), "withdrawn", origin)
        elif isinstance(event, BetDeclined):
            self._free(_named_holds(fact), "declined", origin)
        elif isinstance(event, PlayerSettled):
            self._settle(self._settlings[fact.event_id], origin)
        elif isinstance(event, RoundResettled):
            self.draft.total(_totals(fact, event.number, event))
        elif isinstance(event, RoundSettled):
            self.draft.total(_totals(fact, 0, event))
            self.draft.end(EndedRound(fact.round, "settled", fact.event_id))
            self.free_round(fact.round, _REASONS["settled"], origin)
        elif isinstance(event, RoundCancelled):
            self.draft.end(EndedRound(fact.round, "cancelled", fact.event_id))
            self.free_round(fact.round, _REASONS["cancelled"], origin)

    def free_round(self, round_name: str, reason: str, origin: Origin) -> None:
        """Draft the release of all holds of a round that are locked here and still open."""
        self._free(self._by_round.get(round_name, ()), reason, origin)

    def _free(self, holds: Iterable[UUID], reason: str, origin: Origin) -> None:
        those = [self._holds[hold] for hold in holds if hold in self._holds]
        asked = {(one.round, one.player, one.bet_id) for one in those if one.state == "requested"}
        if asked:  # the partner was asked for a command as a whole
            chosen = {one.hold for one in those}
            those += [
                one
                for one in self._holds.values()
                if one.hold not in chosen
                and one.state == "requested"
                and (one.round, one.player, one.bet_id) in asked
            ]
        free_holds(self.draft, self._books, self._accounts, those, reason, origin)
        for hold in those:  # whatever their state was, they are not open any more
            del self._holds[hold.hold]

    def _settle(self, settling: Settling, origin: Origin) -> None:
        key = (settling.round, settling.account.player)
        mine = [self._holds[hold] for hold in self._by_player.get(key, ()) if hold in self._holds]
        done = settle_player(
            self.draft,
            self._books,
            settling,
            self._latest.get(key),
            [hold for hold in mine if hold.state == "held"],
            origin,
        )
        if done is not None:
            self._latest[key], settled = done
            for hold in settled:
                del self._holds[hold.hold]


def _totals(fact: RoundFact, number: int, event: RoundSettled | RoundResettled) -> RoundTotals:
    totals = tuple(CurrencyTotal(one.currency, one.players, one.staked, one.returned) for one in event.totals)
    return RoundTotals(fact.round, number, totals, fact.event_id)


def _named_holds(fact: RoundFact) -> list[UUID]:
    """The holds that a withdrawal or a decline gives back, each once.

    An ante's hold may have the one of its bet beside it, reserved under the same command: it goes with it.
    """
    event = fact.event
    named: list[tuple[str, int, str]]
    if isinstance(event, BetWithdrawn):
        named = [(stake.bet_id, stake.box, stake.wager) for stake in event.stakes]
    elif isinstance(event, BetDeclined):
        named = [(event.bet_id, stake.box, stake.wager) for stake in event.stakes]
    else:
        return []
    reserves = [(bet_id, box, "bet") for bet_id, box, wager in named if wager == "ante"]
    return [hold_id(fact.round, event.player, *one) for one in dict.fromkeys([*named, *reserves])]
