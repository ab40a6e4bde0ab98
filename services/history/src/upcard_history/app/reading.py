"""What can be read of the history: the port that the edges use, with everything that it gives.

All amounts are integers in minor units of the currency beside them, all instants have a time zone. Lists come
newest first and in pages: `next` of a page is what the following one begins after, None at the end. Nothing
here decides who may ask: the edges do. What an answer shows of a round is for the viewer that is named.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from rules_core.explain.sentence import Explanation
from rules_core.views.viewers import Viewer
from upcard_history.app.figures import FigureQuery, FigureRow

T = TypeVar("T")

PAGE_MAX = 1_000
"""Most rows of one page."""

RESULTS_MAX = 200
"""Most results of a table at once."""

RoundState = Literal["open", "settled", "cancelled"]
"""`open`: not ended yet. A corrected round stays `settled`."""


@dataclass(frozen=True, slots=True)
class RoundKey:
    """Where a page of rounds begins: after (that is, before in time) this one."""

    opened_at: dt.datetime
    round: str
    """`<table>.<number>`."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows, newest first, and where the next page begins."""

    rows: tuple[T, ...]
    next: RoundKey | None


@dataclass(frozen=True, slots=True)
class DealerHand:
    """The dealer's hand of a settled round, the latest correction counted."""

    first: str
    """Name of the hand as dealt (CONTRACTS.md section 1)."""
    final: str
    cards: tuple[str, ...]
    """The five at the end, in the order dealt."""
    qualified: bool
    """Whether the final hand is a game."""
    purchased: bool


@dataclass(frozen=True, slots=True)
class CurrencySum:
    """A round's sums in one currency."""

    currency: str
    players: int
    staked: int
    returned: int


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round as operations list it."""

    round: str
    table: str
    number: int
    ruleset: str
    engine: int
    state: RoundState
    reason: str | None
    """Why it was cancelled, a slug of RULES.md section 7."""
    opened_at: dt.datetime
    ended_at: dt.datetime | None
    dealer: DealerHand | None
    corrections: int
    dealers: tuple[str, ...]
    """Ids of who was signed in when it opened: one, or none where it is not known."""
    totals: tuple[CurrencySum, ...]
    """Empty until it is settled; after a correction the corrected ones."""


@dataclass(frozen=True, slots=True)
class RoundsQuery:
    """Which rounds; None: any. `since` and `until` (not included) are of `opened_at`."""

    table: str | None = None
    ruleset: str | None = None
    state: RoundState | None = None
    since: dt.datetime | None = None
    until: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class PlayerRound:
    """One round of one player, with nothing of anybody else."""

    player: str
    round: str
    table: str
    number: int
    ruleset: str
    currency: str
    state: RoundState
    reason: str | None
    opened_at: dt.datetime
    ended_at: dt.datetime | None
    staked: int
    """Stakes and fees: as settled, else what stands now."""
    returned: int | None
    """What went back, stakes included: of a cancelled round all that was staked; None while it is open."""
    net: int | None
    revision: int
    """Of the result: 0 before it is settled."""
    dealer: DealerHand | None
    boxes: Sequence[Mapping[str, object]]
    """Results as in `PlayerSettled.boxes` (docs/events.md, BoxResult); empty before it is settled."""
    by_platform: int
    """Decisions that the platform took for the player, since windows passed."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One event of a round as its viewer sees it, in the order in which it is shown (docs/views.md)."""

    position: int
    """In the round's stream. Events that waited for a window to close come later than their position."""
    recorded_at: dt.datetime
    type: str
    payload: Mapping[str, object]
    """As in docs/events.md, less what is not this viewer's."""
    actor: str | None
    """Who acted, for operations; None for everybody else."""
    cards: Mapping[str, str]
    """Place to card: face-down cards that this viewer alone could see from here on."""


@dataclass(frozen=True, slots=True)
class RoundDetail:
    """A round as its viewer may see it."""

    row: RoundRow
    """Its `totals` are empty for everyone but operations."""
    view: Mapping[str, object]
    """`rules_core.views.table_view` of the viewer. While the round is open, a player's is the public's: what
    only that player may see then comes from the table service."""
    position: int
    """The last event that it is made of."""


@dataclass(frozen=True, slots=True)
class BetInPlay:
    """What one player has staked on one wager of one box in a round that is open."""

    round: str
    table: str
    player: str
    operator: str | None
    """None where the account is not known yet."""
    currency: str
    box: int
    wager: str
    amount: int
    blind: bool


@dataclass(frozen=True, slots=True)
class TableResult:
    """What became of one round of a table, for everybody."""

    round: str
    number: int
    state: RoundState
    reason: str | None
    ended_at: dt.datetime
    dealer: DealerHand | None
    corrections: int


@dataclass(frozen=True, slots=True)
class AccountRow:
    """One player of an operator in one currency."""

    account: str
    player: str
    operator: str
    currency: str
    purse: str
    opened_at: dt.datetime


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """The player's money at one moment, as the wallet's events say."""

    cash: int
    """What can be staked or withdrawn; of a seamless account what we owe the partner, perhaps below zero."""
    held: int
    """Held for rounds that are open."""
    owed: int
    """What the player owes after corrections, 0 or more."""


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One change of an account's money."""

    position: int
    """In the account's stream: where the next page begins after."""
    at: dt.datetime
    kind: str
    """`deposit`, `withdrawal`, `hold`, `release`, `settlement`, `correction`, `jackpot`, `bonus`, `tip`,
    `free_bet`, `adjustment`, `debt`, `jackpot_correction`."""
    cash: int
    """Change, signed; likewise the next two."""
    held: int
    owed: int
    promo: int
    """Of a free bet that was granted or expired: its change. 0 for everything else."""
    after: AccountBalance
    round: str | None
    revision: int | None
    reason: str | None
    """A slug where there is one: why a hold went back, why somebody adjusted."""
    transaction: str
    """The wallet's ledger transaction."""
    event: str
    """Id of the wallet's event."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A period of an account: opening, one page of lines (oldest first), closing.

    Opening plus the changes of all lines of the period is closing.
    """

    account: AccountRow
    opening: AccountBalance
    closing: AccountBalance
    lines: tuple[StatementLine, ...]
    next: int | None
    """`after` of the next page; None when there is none."""


ReplayOutcome = Literal["agreed", "disagreed", "unreadable", "not_ended"]
"""`not_ended`: the round, or a correction of it, goes on: what it rests on lies face down still."""


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """One replay of one round."""

    round: str
    position: int
    """Events 1 up to this one were replayed."""
    outcome: ReplayOutcome
    ran_at: dt.datetime | None
    """When the job did it; None for one that was asked for just now."""
    report: Mapping[str, object]
    """As `python -m rules_core verify --json` prints it."""
    sentences: tuple[str, ...]
    """The same in plain English; empty for those that the job did."""


class History(Protocol):
    """Everything that can be read. Any method may raise what the database raises when it is away."""

    async def rounds(self, query: RoundsQuery, *, before: RoundKey | None, limit: int) -> Page[RoundRow]:
        """Rounds, newest first: for operations. `limit` is 1 to PAGE_MAX; else ValueError."""
        ...

    async def round_detail(self, round_name: str, viewer: Viewer) -> RoundDetail | None:
        """A round as the viewer may see it; None where it is not known."""
        ...

    def timeline(self, round_name: str, viewer: Viewer) -> AsyncIterator[TimelineEntry]:
        """What the viewer sees of a round's events, in the order in which it is shown; none: not known.

        Holds a page of events at a time, and what waits for a window to close.
        """
        ...

    async def explained(self, round_name: str, player: str | None) -> Mapping[str, Explanation] | None:
        """Why wagers of a settled round ended as they did, by currency: of a player, or of all.

        Empty for a cancelled round, and for a player without settled boxes; None where it is not known.
        Raises RoundNotEnded, RulesetUnknown.
        """
        ...

    async def player_rounds(
        self,
        player: str,
        *,
        before: RoundKey | None,
        limit: int,
        currency: str | None = None,
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
    ) -> Page[PlayerRound]:
        """Rounds in which the player has a bet that stands, newest first."""
        ...

    async def bets_in_play(
        self, *, table: str | None = None, player: str | None = None, limit: int = PAGE_MAX
    ) -> tuple[BetInPlay, ...]:
        """Stakes and fees of open rounds, by table, round, player, box, wager.

        With `player`: that one's own, whole. Without: for operations, so without what was decided in a window
        of a shared table that is still open.
        """
        ...

    async def table_results(self, table: str, *, limit: int) -> tuple[TableResult, ...]:
        """The last rounds of a table that ended, newest first; at most RESULTS_MAX."""
        ...

    async def accounts(self, player: str) -> tuple[AccountRow, ...]:
        """A player's accounts, by currency."""
        ...

    async def statement(
        self, account: str, since: dt.datetime, until: dt.datetime, *, after: int = 0, limit: int = PAGE_MAX
    ) -> Statement | None:
        """The account's money from `since` up to, not including, `until`; None where it is not known.

        All of one answer is of one moment.
        """
        ...

    async def figures(self, query: FigureQuery) -> tuple[FigureRow, ...]:
        """Figures by hour or day, oldest first, then by key. Raises `FigureQueryInvalid`."""
        ...

    async def replay(self, round_name: str) -> ReplayRun | None:
        """Replay a round now, as far as it goes; None where it is not known. Changes nothing."""
        ...

    async def bundle(self, round_name: str, player: str | None) -> bytes | None:
        """The round's bundle (CONTRACTS.md section 2), for a player or with everything; None: not known.

        Raises RoundNotEnded, RulesetUnknown.
        """
        ...

    async def replays_that_disagree(self, *, limit: int) -> tuple[ReplayRun, ...]:
        """Rounds whose latest replay by the job did not agree, newest first."""
        ...


class RoundNotEnded(Exception):
    """Bundles and words are made when the round has ended: before, they could tell what is hidden still."""


class RulesetUnknown(Exception):
    """The round was played by a ruleset that this program does not have: it cannot be replayed here."""
