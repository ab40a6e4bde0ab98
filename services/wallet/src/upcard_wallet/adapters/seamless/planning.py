"""What has to be told to partners, decided without any I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from upcard_seamless.answers import CONTRADICTING
from upcard_seamless.decisions import Row, row_of
from upcard_wallet.adapters.seamless import ids
from upcard_wallet.adapters.seamless.partner import Transaction, Verdict
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.app.purse import AccountRef, Credit, FreedHold, SettledPlayer


@dataclass(frozen=True, slots=True)
class Lane:
    """One order in which a partner is told things."""

    lane: UUID
    account: AccountRef
    round: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A win or a rollback to be queued at the end of its lane."""

    lane: Lane
    call: UUID
    kind: Literal["win", "rollback"]
    transactions: tuple[Transaction, ...]
    posted: bool = True
    """Whether the ledger has what this tells of."""
    undoes: Literal["bet", "win"] | None = None
    revision: int | None = None
    closes_round: bool = False
    cause_event: UUID | None = None
    waits_for: UUID | None = None
    """A bet's call that may still be under way: not before it is abandoned."""


@dataclass(frozen=True, slots=True)
class Win:
    """A win of a settlement that stands: told or queued, and not taken back."""

    call: UUID
    amount: int


def rollback_of_bet(
    lane: Lane, transactions: Sequence[Transaction], *, posted: bool, waits_for: UUID | None = None
) -> Entry:
    """The entry that gives a bet's transactions back, whole."""
    return Entry(
        lane,
        ids.rollback_call(one.id for one in transactions),
        "rollback",
        tuple(transactions),
        posted=posted,
        undoes="bet",
        waits_for=waits_for,
    )


def entries_of_freed(holds: Sequence[FreedHold]) -> list[Entry]:
    """The rollbacks of freed holds: one a command and former state, of its cash alone."""
    found: dict[tuple[str, str, str, str], list[FreedHold]] = {}
    for hold in holds:
        if hold.funding is None:
            found.setdefault((hold.account.account, hold.round, hold.bet_id, hold.was), []).append(hold)
    entries = []
    for (account, round_, bet_id, was), group in found.items():
        lane = Lane(ids.lane_of_round(account, round_), group[0].account, round_)
        transactions = [Transaction(hold.hold, hold.amount) for hold in group]
        if was == "held":
            entries.append(rollback_of_bet(lane, transactions, posted=True))
        else:
            bet = ids.bet_call(account, round_, bet_id)
            entries.append(rollback_of_bet(lane, transactions, posted=False, waits_for=bet))
    return entries


def lane_of_settled(settled: SettledPlayer) -> Lane:
    """The lane of a settled player and round."""
    return Lane(ids.lane_of_round(settled.account.account, settled.round), settled.account, settled.round)


def entries_of_revision(settled: SettledPlayer, standing: list[Win], *, first: bool) -> list[Entry]:
    """What takes the wins that stand to what this revision pays; changes `standing` to what stands then.

    A rise is a win of the difference: the player never has to own what they are about to get. A fall takes
    back the latest wins until no more than the new amount stands, then wins the rest. The first that is told
    is a win in any case, of 0 if need be, since it closes the round.
    """
    lane = lane_of_settled(settled)
    entries = []
    while sum(win.amount for win in standing) > settled.paid:
        win = standing.pop()
        if win.amount:
            entries.append(
                Entry(
                    lane,
                    ids.rollback_call([win.call]),
                    "rollback",
                    (Transaction(win.call, win.amount),),
                    undoes="win",
                    cause_event=settled.cause_event,
                )
            )
    missing = settled.paid - sum(win.amount for win in standing)
    if missing or first:
        call = ids.win_of_revision(settled.account.account, settled.round, settled.revision)
        standing.append(Win(call, missing))
        entries.append(
            Entry(
                lane,
                call,
                "win",
                (Transaction(call, missing),),
                revision=settled.revision,
                closes_round=first,
                cause_event=settled.cause_event,
            )
        )
    return entries


def entry_of_credit(credit: Credit) -> Entry:
    """The win that tells of a credit: in its round's lane, if it has one."""
    account = credit.account
    if credit.round is None:
        lane = ids.lane_of_credit(account.account, credit.business_key)
    else:
        lane = ids.lane_of_round(account.account, credit.round)
    call = ids.win_of_credit(account.account, credit.business_key)
    return Entry(
        Lane(lane, account, credit.round),
        call,
        "win",
        (Transaction(call, credit.amount),),
        cause_event=credit.cause_event,
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What is known of a queued call's lane when its answer is judged."""

    failures: int
    """Failed tries in a row before this one."""
    failing_for_s: float
    """Since the first of them."""
    contradictions: int
    """Answers so far that contradicted what was asked."""
    unposted_bet: bool
    """It is the rollback of a bet whose end nobody knew, so the partner may rightly not know it."""
    confirming: bool
    """It was answered with `not_found` once, and is sent again to be sure."""
    undoes: Literal["bet", "win"] | None = None
    """Of a rollback; none: a win."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a queued call."""

    what: Literal["done", "again", "parked"]
    pause_s: float = 0.0
    """Before it is tried again."""
    reason: str | None = None
    confirming: bool = False
    contradicted: bool = False
    failed: bool = False
    """Whether it counts as a failed try."""


def row_for(verdict: Verdict, tried: Tried) -> Row:
    """The row of the decision table for an answer to a queued call."""
    if tried.unposted_bet:
        return row_of("rollback", verdict.answer, "bet_unknown")
    if tried.undoes is not None:
        return row_of("rollback", verdict.answer, "win" if tried.undoes == "win" else "bet_held")
    return row_of("win", verdict.answer)


def decide(verdict: Verdict, tried: Tried, settings: PartnerSettings) -> Decision:
    """What an answer to a queued call leads to: its row of the decision table, and how often it was tried."""
    row = row_for(verdict, tried)
    match row.then:
        case "nothing":
            return Decision("done")
        case "people":
            return Decision("parked", reason=row.message)
        case "confirm":
            if tried.confirming:
                return Decision("done", reason="not_found")
            # The bet itself may still be on its way to a partner that keeps no list of what it never saw.
            return Decision("again", settings.confirm_after_s, confirming=True)
        case "again" | "again_few":
            return _again(row, tried, settings)
        case "rollback":
            raise ValueError(f"{row.name}: nothing rolls back what is told")


def _again(row: Row, tried: Tried, settings: PartnerSettings) -> Decision:
    contradicted = row.answer in CONTRADICTING
    if row.then == "again_few" and tried.contradictions + 1 >= settings.contradictions_max:
        return Decision("parked", reason=row.message, contradicted=contradicted)
    if tried.failures and tried.failing_for_s >= settings.park_after_s:
        return Decision("parked", reason="no_answer")
    pause = pause_s(tried.failures, settings)
    return Decision("again", pause, contradicted=contradicted, failed=True)


def pause_s(failures: int, settings: PartnerSettings) -> float:
    """The pause after one more failed try, in seconds; without jitter."""
    return float(min(settings.first_pause_s * 2.0 ** min(failures, 30), settings.longest_pause_s))
