"""Holds as rows, postings and events: what purses place them with (`purse.HoldRecords`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.ports import Hold, HoldChange, HoldsWanted, Posting
from upcard_wallet.app.purse import (
    HELD,
    UNKNOWN,
    AccountRef,
    Admission,
    Answer,
    HoldGroup,
    Outcome,
    Refusal,
    refused,
)
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.events import HeldWager, HoldDeclined, HoldPlaced, HoldReleased, HoldRequested
from upcard_wallet.domain.holds import HoldState
from upcard_wallet.domain.ids import placing_key

CommandKey = tuple[str, str, str]
"""(round, player, bet_id)."""

BET_ID_REUSED = "bet_id_reused"
"""The same command came with other wagers; nothing is recorded of it."""


def key_of(group: HoldGroup) -> CommandKey:
    """What names a command."""
    return group.round, group.account.player, group.bet_id


def outcome_of(holds: Sequence[Hold]) -> Outcome | None:
    """What is recorded of one command's holds; None: someone is still asking."""
    states = {hold.state for hold in holds}
    if "refused" in states:
        return refused(next(hold.reason or Refusal.FUNDS for hold in holds if hold.state == "refused"))
    if "requested" in states:
        return None
    if "unknown" in states:
        return UNKNOWN
    return refused(Refusal.ROLLED_BACK) if states == {"released"} else HELD


def wager_of(hold: Hold) -> HeldWager:
    """A hold as events name it."""
    return HeldWager(str(hold.hold), hold.box, hold.wager, hold.amount, hold.funding)


@dataclass(frozen=True, slots=True)
class Records:
    """The `HoldRecords` of a wallet."""

    wallet: Wallet

    async def request(
        self, connection: Connection, groups: Sequence[HoldGroup]
    ) -> tuple[Sequence[Admission], Sequence[StreamAppend]]:
        """See `purse.HoldRecords`. Raises HoldExists: another transaction was first; begin again."""
        ledger = self.wallet.ledger
        rounds = {group.round for group in groups}
        await ledger.lock_rounds(connection, shared=rounds)
        ended = await ledger.ended(connection, rounds)
        known = await ledger.holds_of(connection, {key_of(group) for group in groups})
        draft = Draft(self.wallet)
        admissions = []
        for group in groups:
            found = known.get(key_of(group))
            if found is not None:
                admissions.append(_admission_of(group, found))
            elif group.round in ended:
                known[key_of(group)] = _decline(draft, group, Refusal.ROUND_ENDED)
                admissions.append(Admission("refused", refused(Refusal.ROUND_ENDED)))
            else:
                known[key_of(group)] = _add(draft, group, "requested")
                wagers = tuple(map(wager_of, known[key_of(group)]))
                event = HoldRequested(group.round, group.bet_id, wagers)
                draft.tell(group.account.account, event, _origin(group))
                admissions.append(Admission("new"))
        return admissions, await draft.store(connection)

    async def answer(
        self, connection: Connection, answers: Sequence[Answer]
    ) -> tuple[Sequence[Outcome], Sequence[StreamAppend]]:
        """See `purse.HoldRecords`."""
        ledger = self.wallet.ledger
        ids = [hold for answer in answers for hold in answer.group.holds]
        rows = await ledger.lock_holds(connection, HoldsWanted(holds=ids), len(ids))
        groups = [answer.group for answer in answers if answer.outcome.state == "held"]
        books, wanted = await self._books(connection, groups)
        draft = Draft(self.wallet)
        if wanted:
            await draft.lock(connection, wanted)
        outcomes = []
        for answer in answers:
            group = answer.group
            holds = [rows[one] for one in group.holds if one in rows]
            if not holds or any(hold.state != "requested" for hold in holds):
                outcomes.append(outcome_of(holds) or UNKNOWN if holds else UNKNOWN)
                continue
            outcome = answer.outcome
            if outcome.state == "held" and not _bears(draft, books, group):
                outcome = refused(Refusal.FUNDS)
            state: HoldState = outcome.state
            for hold in holds:
                draft.change_hold(HoldChange(hold.hold, state, outcome.reason))
            if outcome.state == "held":
                _post(draft, books, group, holds)
            elif outcome.state == "refused":
                _tell_declined(draft, group, holds, outcome.reason or Refusal.REFUSED)
            outcomes.append(outcome)
        self._watch(outcomes)
        return outcomes, await draft.store(connection)

    async def resolve(self, connection: Connection, holds: Sequence[UUID]) -> Sequence[StreamAppend]:
        """See `purse.HoldRecords`."""
        ledger = self.wallet.ledger
        rows = await ledger.lock_holds(connection, HoldsWanted(holds=holds), len(holds))
        unknown = [hold for hold in rows.values() if hold.state == "unknown"]
        draft = Draft(self.wallet)
        for hold in unknown:
            draft.change_hold(HoldChange(hold.hold, "released", Refusal.ROLLED_BACK))
        for (account, round_name), those in grouped(unknown).items():
            released = HoldReleased(round_name, None, "rolled_back", tuple(map(wager_of, those)))
            draft.tell(account, released, Origin("system", str(self.wallet.recorder.new_id())))
        return await draft.store(connection)

    async def outcomes(
        self, connection: Connection, groups: Sequence[HoldGroup]
    ) -> Mapping[CommandKey, Outcome | None]:
        """See `purse.HoldRecords`."""
        found = await self.wallet.ledger.holds_of(connection, {key_of(group) for group in groups})
        return {key: outcome_of(holds) for key, holds in found.items()}

    async def place_at_once(
        self, connection: Connection, groups: Sequence[HoldGroup]
    ) -> tuple[Sequence[Outcome], Sequence[StreamAppend]]:
        """Hold each group's money, or refuse it, in one transaction: where nobody outside has to be asked.

        Groups of one account are served in their order, each with what the ones before have left.
        """
        ledger = self.wallet.ledger
        rounds = {group.round for group in groups}
        books, wanted = await self._books(connection, groups)
        commands = {key_of(group) for group in groups}
        # Holds are looked for after the balances' locks: whoever placed the same ones before has committed.
        placing = await ledger.begin_placing(connection, rounds, wanted, commands)
        draft = Draft(self.wallet)
        draft.balances = placing.balances
        ended, known = placing.ended, placing.known
        outcomes = []
        fresh = []
        for group in groups:
            found = known.get(key_of(group))
            if found is not None:
                outcomes.append(_admission_of(group, found).outcome or UNKNOWN)
                continue
            reason = Refusal.ROUND_ENDED if group.round in ended else None
            if reason is None and not _bears(draft, books, group):
                reason = Refusal.FUNDS
            if reason is None:
                known[key_of(group)] = holds = _add(draft, group, "held")
                _post(draft, books, group, holds)
            else:
                known[key_of(group)] = _decline(draft, group, reason)
            fresh.append(HELD if reason is None else refused(reason))
            outcomes.append(fresh[-1])
        self._watch(fresh)
        return outcomes, await draft.store(connection)

    async def _books(self, connection: Connection, groups: Sequence[HoldGroup]) -> tuple[Books, set[int]]:
        """The books of these groups' accounts and free bets, and which of them are to be locked."""
        books = Books(self.wallet)
        accounts = {group.account.account: group.account for group in groups}
        free_bets = {
            (item.funding, group.account)
            for group in groups
            for item in group.items
            if item.funding is not None
        }
        await books.find(connection, accounts.values(), kinds=("operator",), free_bets=free_bets)
        promo = starmap(books.free_bet, free_bets)
        own = [book for ref in accounts.values() for book in (books.cash(ref), books.of(ref).held)]
        return books, {*own, *(book for book in promo if book is not None)}

    def _watch(self, outcomes: Sequence[Outcome]) -> None:
        counts: dict[str, int] = {}
        for outcome in outcomes:
            what = outcome.reason or outcome.state
            counts[what] = counts.get(what, 0) + 1
        for what, number in counts.items():
            self.wallet.watcher.holds(what, number)


def grouped(holds: Sequence[Hold]) -> dict[tuple[str, str], list[Hold]]:
    """Holds by account and round."""
    found: dict[tuple[str, str], list[Hold]] = {}
    for hold in holds:
        found.setdefault((hold.account, hold.round), []).append(hold)
    return found


def _admission_of(group: HoldGroup, found: Sequence[Hold]) -> Admission:
    asked = {item.hold: (item.amount, item.funding) for item in group.items}
    if {hold.hold: (hold.amount, hold.funding) for hold in found} != asked:
        return Admission("refused", refused(BET_ID_REUSED))
    return Admission("known", outcome_of(found))


def _origin(group: HoldGroup) -> Origin:
    return Origin(group.actor, str(group.correlation_id))


def _add(draft: Draft, group: HoldGroup, state: HoldState, reason: str | None = None) -> list[Hold]:
    holds = [
        Hold(
            item.hold,
            group.round,
            group.account.player,
            group.account.account,
            group.bet_id,
            item.box,
            item.wager,
            item.amount,
            item.funding,
            state,
            reason,
        )
        for item in group.items
    ]
    for hold in holds:
        draft.add_hold(hold)
    return holds


def _decline(draft: Draft, group: HoldGroup, reason: str) -> list[Hold]:
    holds = _add(draft, group, "refused", reason)
    _tell_declined(draft, group, holds, reason)
    return holds


def _tell_declined(draft: Draft, group: HoldGroup, holds: Sequence[Hold], reason: str) -> None:
    declined = HoldDeclined(group.round, group.bet_id, reason, tuple(map(wager_of, holds)))
    draft.tell(group.account.account, declined, _origin(group))


def _parts(group: HoldGroup) -> dict[str | None, int]:
    """What is asked of cash (None) and of each free bet."""
    parts: dict[str | None, int] = {}
    for item in group.items:
        parts[item.funding] = parts.get(item.funding, 0) + item.amount
    return parts


def _book(books: Books, account: AccountRef, funding: str | None) -> int | None:
    return books.cash(account) if funding is None else books.free_bet(funding, account)


def _bears(draft: Draft, books: Books, group: HoldGroup) -> bool:
    for funding, amount in _parts(group).items():
        book = _book(books, group.account, funding)
        if funding is None and not books.limited(group.account):
            continue
        if book is None or draft.balances.get(book, 0) < amount:
            return False
    return True


def _post(draft: Draft, books: Books, group: HoldGroup, holds: Sequence[Hold]) -> None:
    account = group.account
    postings = [Posting(books.of(account).held, account.currency, sum(hold.amount for hold in holds))]
    for funding, amount in _parts(group).items():
        book = _book(books, account, funding)
        if book is None:
            raise RuntimeError(f"free bet {funding} is not there any more")
        postings.append(Posting(book, account.currency, -amount))
    event = draft.wallet.recorder.new_id()
    transaction = draft.post(
        "hold",
        placing_key(*key_of(group)),
        postings,
        event=event,
        account=account.account,
        round_name=group.round,
    )
    placed = HoldPlaced(group.round, group.bet_id, str(transaction), tuple(map(wager_of, holds)))
    draft.tell(account.account, placed, _origin(group), event)
