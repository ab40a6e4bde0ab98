"""Events of the betting window (RULES.md section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rules_core.round.events.fields import (
    Amount,
    ArrivedAt,
    BetId,
    BetKind,
    BoxNumber,
    ClosedAt,
    ClosesAt,
    Currency,
    DecidedOption,
    FeeName,
    FinalChoice,
    Funding,
    OpenedAt,
    PlayerId,
    StakeName,
    StakingCommandName,
    WithdrawKind,
)
from rules_core.round.limits import CurrencyLimits, Durations


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """A round began and its betting window opened; rules, engine and limits are pinned here."""

    table: Annotated[str, "The table's opaque id."]
    number: Annotated[int, "Number of the round at its table, from 1."]
    ruleset: Annotated[str, "`name@version`."]
    ruleset_sha256: Annotated[str, "Of the ruleset's canonical JSON, lower-case hex."]
    engine: Annotated[int, "The version of the deciding code (ARCHITECTURE.md, The log, 6)."]
    limits: Annotated[tuple[CurrencyLimits, ...], "One entry a currency that the table takes."]
    durations: Annotated[Durations, "Lengths of the windows."]
    opened_at: OpenedAt
    closes_at: ClosesAt
    deck: Annotated[str | None, "The deck's opaque id."] = None


@dataclass(frozen=True, slots=True)
class Stake:
    """One wager that was added to a box."""

    box: BoxNumber
    wager: Annotated[StakeName, "A blind box's `bet` is staked with its ante, twice its amount."]
    amount: Amount
    blind: Annotated[bool, "Whether the box is played blind."] = False
    funding: Funding = None


@dataclass(frozen=True, slots=True)
class BetPlaced:
    """A player's wagers were accepted; their money is held."""

    player: PlayerId
    currency: Currency
    bet_id: BetId
    kind: Annotated[BetKind, "Placed, doubled, or repeated from the table's previous round."]
    stakes: Annotated[tuple[Stake, ...], "What was added, in the order of the command."]
    arrived_at: ArrivedAt


@dataclass(frozen=True, slots=True)
class DeclinedStake:
    """One wager that was not accepted."""

    box: BoxNumber
    wager: Annotated[FeeName, "Which wager: fees, insurance and purchase too."]
    amount: Amount
    blind: Annotated[bool, "Whether the box would be blind."] = False
    funding: Funding = None


@dataclass(frozen=True, slots=True)
class BetDeclined:
    """Wagers were refused after their money had been asked for, or since they came after the close.

    The whole command was refused and no money is kept (RULES.md section 4.1).
    """

    player: PlayerId
    currency: Annotated[str | None, "Currency of the amounts; null where the player named none yet."]
    bet_id: BetId
    stakes: Annotated[tuple[DeclinedStake, ...], "The refused wagers."]
    reason: Annotated[
        str,
        "`betting_closed`, `window_closed`, `funds_refused`, `wallet_unavailable`, `hold_answered_late`, "
        "or the slug of the refusal that a held wager met.",
    ]
    arrived_at: ArrivedAt
    command: Annotated[StakingCommandName, "The kind of command that was declined."]
    option: Annotated[DecidedOption | None, "The option that the command chose, if any."] = None
    positions: Annotated[tuple[int, ...], "Of an exchange."] = ()
    choice: Annotated[FinalChoice | None, "The final option that the command chose, if any."] = None


@dataclass(frozen=True, slots=True)
class WithdrawnStake:
    """One held wager that went back, whole (ARCHITECTURE.md, The round)."""

    bet_id: BetId
    box: BoxNumber
    wager: StakeName
    amount: Amount


@dataclass(frozen=True, slots=True)
class BetWithdrawn:
    """A player took wagers back during betting: by withdrawal, undo or clear."""

    player: PlayerId
    kind: WithdrawKind
    stakes: Annotated[tuple[WithdrawnStake, ...], "What went back; of a withdrawal, the named wager first."]
    arrived_at: ArrivedAt


@dataclass(frozen=True, slots=True)
class BettingClosed:
    """No bet can follow; the cards are dealt next (RULES.md section 4.2)."""

    closed_at: ClosedAt
    boxes: Annotated[
        tuple[int, ...], "Boxes that are dealt cards: every box on shared tables, else those in play."
    ]
