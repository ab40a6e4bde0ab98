"""The purse: where a player's money lies, and what the wallet needs of it.

Two purses stand behind this port: *internal* (the money lies in our ledger) and *seamless* (it lies in a
partner's wallet, and our ledger says what the partner owes). Every account names its purse.

Who does what. The use cases decide, lock the round, and post every release and every settlement, with one
code for both purses: only the book that stands for the player's cash differs, and `Purse.cash_book` names it.
A purse does what is its own: it places holds (`place`), and in the transaction that releases or settles it
notes durably what has to be done outside (`release`, `settle`, `credit`); the internal purse has nothing to
note. What a purse needs of the ledger for `place` is `HoldRecords`, which the ledger implements.

Reasons of refusals are slugs, see `Refusal`. A partner's own words never leave the adapter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol
from uuid import UUID

from eventstore.events import StreamAppend
from eventstore.postgres.connections import Connection

PurseKind = Literal["internal", "seamless"]


class Refusal:
    """Why money is not held: the slugs that `Outcome.reason` may have."""

    FUNDS: Final = "funds_refused"
    """Not enough, in cash or in the named free bet; a later try with a new bet_id may succeed."""
    ROUND_ENDED: Final = "round_ended"
    """The round is settled or cancelled; stays so."""
    UNAVAILABLE: Final = "wallet_unavailable"
    """The partner could not be asked, or it is certain that it was not; nothing was taken."""
    PARTNER: Final = "partner_unavailable"
    """The partner fails again and again, and was not even asked for this ante or tip; nothing was taken."""
    REFUSED: Final = "player_refused"
    """The partner will not take bets of this player (blocked, limits of its own, unknown there)."""
    ROLLED_BACK: Final = "hold_answered_late"
    """The answer came too late or never; what may have been taken was, or is being, given back."""


@dataclass(frozen=True, slots=True)
class AccountRef:
    """One account: a player of an operator in one currency."""

    account: str
    player: str
    operator: str
    currency: str
    purse: PurseKind


class BookKey(NamedTuple):
    """A book of the ledger, in the words of its table: kind, owner and currency."""

    kind: str
    owner: str
    currency: str


@dataclass(frozen=True, slots=True)
class HoldItem:
    """One wager whose money is asked for; `hold` is UUIDv5 of (round, player, bet_id, box, wager)."""

    hold: UUID
    box: int
    wager: str
    amount: int
    """Minor units, above zero."""
    funding: str | None = None
    """Id of the free bet that pays it from the promo book; absent: cash."""


@dataclass(frozen=True, slots=True)
class HoldGroup:
    """The holds of one command (one player, one `bet_id`): all are held, or none is."""

    round: str
    bet_id: str
    account: AccountRef
    items: tuple[HoldItem, ...]
    actor: str
    """Who staked, for the events: `player:<id>` or `platform`."""
    correlation_id: str

    @property
    def holds(self) -> tuple[UUID, ...]:
        """The ids of its holds, in the order of the command."""
        return tuple(item.hold for item in self.items)

    @property
    def cash(self) -> int:
        """What is asked of the player's cash, in minor units; free bets are not."""
        return sum(item.amount for item in self.items if item.funding is None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one group.

    `unknown`: nobody can say yet. What may have been taken is given back, and whoever hears it gives the bet
    up and releases its holds. Asking again gives `unknown`, later `refused` with `Refusal.ROLLED_BACK`.
    """

    state: Literal["held", "refused", "unknown"]
    reason: str | None = None
    """A slug of `Refusal`; with `refused` only."""


HELD: Final = Outcome("held")
UNKNOWN: Final = Outcome("unknown")


def refused(reason: str) -> Outcome:
    """A refusal with its slug."""
    return Outcome("refused", reason)


@dataclass(frozen=True, slots=True)
class PartnerCash:
    """What a player has where it is not ours to say."""

    cash: int | None
    """Minor units; None where it is not known."""
    unknown: str | None = None
    """Then why: `balance_unknown`, `balance_refused` or `partner_unavailable`."""


@dataclass(frozen=True, slots=True)
class FreedHold:
    """A hold that a transaction frees (released, found without a stake, of a cancelled round).

    `was` is its state before: `held` (this transaction posts it back: held → cash book or promo) or
    `requested` (nothing was posted; its row is `unknown` from now on, and the purse resolves it). Holds in
    other states are not given to the purse. Of `requested` ones a command's holds are freed together.
    """

    account: AccountRef
    round: str
    bet_id: str
    hold: UUID
    amount: int
    """Minor units."""
    funding: str | None
    was: Literal["held", "requested"]


@dataclass(frozen=True, slots=True)
class SettledPlayer:
    """One player's revision, as posted in this transaction.

    `paid` is what this revision, as a whole and not as a difference, pays to the player's cash: the stakes
    of cash lines included where they come back, of free-bet lines max(0, returned - stake).
    """

    account: AccountRef
    round: str
    revision: int
    paid: int
    """Minor units, 0 or more."""
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class Credit:
    """Money that goes to a player's cash outside of a settlement: a jackpot, an upward adjustment."""

    account: AccountRef
    amount: int
    """Minor units, above zero."""
    kind: str
    """What it is, a slug: `jackpot`, `adjustment`, `bonus`."""
    business_key: str
    """Of the transaction that posts it; the partner's id derives from it."""
    round: str | None
    cause_event: UUID | None


Heard = Callable[[int, Outcome], None]
"""Told what became of the group at this place of a batch, as soon as it is known and durable."""


class PlacingFailed(Exception):
    """The database could not be asked or did not answer; ask again with the same ids."""


class Purse(Protocol):
    """Where a player's money lies.

    Every method takes a whole batch; one account may occur several times. All are idempotent: the same
    again has no second effect.
    """

    @property
    def kind(self) -> PurseKind:
        """Which of the two it is: it is given only accounts of its own kind."""
        ...

    @property
    def limited(self) -> bool:
        """Whether the cash book must not go below zero.

        Where it is (internal), a downward correction takes what is there and books the rest to the player's
        receivable. Where it is not (seamless), all of it goes against the operator's book, and what the
        partner cannot get back from the player comes to the receivable later, by people.
        """
        ...

    def cash_book(self, account: AccountRef) -> BookKey:
        """The book that stands for the player's cash: `player_cash`, or the operator's."""
        ...

    async def place(
        self, groups: Sequence[HoldGroup], deadline: float, heard: Heard | None = None
    ) -> Sequence[Outcome]:
        """Hold the money of each group, all of it or nothing; one outcome each, in their order.

        `deadline` is a time of `asyncio`'s loop (`loop.time()`); shortly after it everything is answered,
        with `unknown` where need be. What it says is durable. Groups never fail each other. The round's end
        is respected: see `HoldRecords.request`. Call it outside of any transaction. `heard` is told of groups
        before the whole batch is answered, of some of them or all, of each once.

        Raises PlacingFailed where nothing can be said of the batch; asking again with the same ids tells.
        """
        ...

    async def cash_outside(self, account: AccountRef, within_s: float) -> PartnerCash | None:
        """What the player has, where that is asked of somebody else; None where our ledger says it.

        Outside of any transaction. Answers within the time, whatever happens.
        """
        ...

    async def release(self, connection: Connection, holds: Sequence[FreedHold]) -> None:
        """Note what has to be given back outside, in the transaction that posts it and changes states.

        After the postings, before the append of events.
        """
        ...

    async def settle(self, connection: Connection, settled: Sequence[SettledPlayer]) -> None:
        """Note what has to be paid outside, in the settling transaction (which posts). Also of `paid` = 0.

        After the postings, before the append of events. A revision that was noted before is noted once.
        """
        ...

    async def credit(self, connection: Connection, items: Sequence[Credit]) -> None:
        """Note what has to be paid outside of a settlement, in the transaction that posts it."""
        ...


# What a purse needs of the ledger


@dataclass(frozen=True, slots=True)
class Admission:
    """What `HoldRecords.request` says of one group.

    `new`: its holds are `requested` now, and whoever gets this asks for the money. `known`: they were there
    before, in the state of `outcome` (None: still `requested`, someone is asking). `refused`: for the reason
    in `outcome`; the refusal is recorded in the same transaction, and stays.
    """

    state: Literal["new", "known", "refused"]
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The purse's answer to the request for one group's money: what `requested` becomes."""

    group: HoldGroup
    outcome: Outcome


class HoldRecords(Protocol):
    """Holds as rows, postings and events; the ledger implements it, for use by purses.

    All methods run in the caller's transaction, are set-based, and take locks in the order of the design:
    the round's advisory lock, then hold rows ascending by id, then balances ascending by book. They store no
    events but return the appends: the caller stores them with `append_in_transaction` as the last act of its
    transaction.
    """

    async def request(
        self, connection: Connection, groups: Sequence[HoldGroup]
    ) -> tuple[Sequence[Admission], Sequence[StreamAppend]]:
        """Make `requested` holds of groups that are new, with `HoldRequested`; one admission each.

        Takes the rounds' advisory locks, shared. A group of an ended round is refused (`round_ended`).
        """
        ...

    async def answer(
        self, connection: Connection, answers: Sequence[Answer]
    ) -> tuple[Sequence[Outcome], Sequence[StreamAppend]]:
        """Take holds from `requested` to `held` (cash book → held, promo → held), `refused` or `unknown`.

        With `HoldPlaced` or `HoldDeclined`. Returns what each group's holds are after it, which may differ:
        holds that are not `requested` any more stay as they are (so a late answer changes nothing), and a
        `held` for which a limited book or promo lacks the money becomes `refused` (`funds_refused`). Who
        gave `held` and gets something else has to give the money back.
        """
        ...

    async def resolve(self, connection: Connection, holds: Sequence[UUID]) -> Sequence[StreamAppend]:
        """Take holds from `unknown` to `released`, with `HoldReleased`: nothing is or will be taken for them.

        No postings: for an unknown hold none was ever made. Holds in other states stay as they are.
        """
        ...

    async def outcomes(
        self, connection: Connection, groups: Sequence[HoldGroup]
    ) -> Mapping[tuple[str, str, str], Outcome | None]:
        """What is recorded of groups, by (round, player, bet_id).

        None for `requested`; missing where there are no holds. Holds that were given back (`released`) are
        `refused` with `Refusal.ROLLED_BACK`; `settled` ones are `held`.
        """
        ...
