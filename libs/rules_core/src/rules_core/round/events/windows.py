"""Events of the decision windows (RULES.md sections 4.3, 4.5, 4.6 and 4.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rules_core.round.events.fields import (
    Amount,
    ArrivedAt,
    BetId,
    BoxNumber,
    ChosenBy,
    ClosedAt,
    ClosesAt,
    ConfirmedBy,
    DecidedOption,
    DefaultReason,
    ExtensionReason,
    FinalChoice,
    OpenedAt,
    PlayerId,
    WindowBox,
    WindowKind,
)


@dataclass(frozen=True, slots=True)
class BoxPlayers:
    """A box and the players of it that are meant."""

    box: BoxNumber
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WindowExtended:
    """A window stays open longer: no bets came, a fail-over, or the floor's decision."""

    window: WindowKind
    box: WindowBox
    closes_at: ClosesAt
    extended_ms: Annotated[int, "By how much, in milliseconds."]
    reason: Annotated[ExtensionReason, "No bet was placed, a fail-over, or the floor's decision."]
    decided_at: Annotated[str, "When it was decided."]


@dataclass(frozen=True, slots=True)
class OptionsOpened:
    """Open boxes may choose: bet, sixth card, exchange, fold (RULES.md section 4.3)."""

    box: WindowBox
    opened_at: OpenedAt
    closes_at: ClosesAt
    confirmed_by: ConfirmedBy = None


@dataclass(frozen=True, slots=True)
class OptionChosen:
    """A player's option of a box; final once recorded."""

    player: PlayerId
    box: BoxNumber
    kind: DecidedOption
    arrived_at: ArrivedAt
    positions: Annotated[tuple[int, ...], "Exchanged cards, 0-based, in the order chosen; else empty."] = ()
    amount: Annotated[int, "The bet (option `bet`) or the option fee, minor units; 0 for a fold."] = 0
    bet_id: Annotated[BetId | None, "Null for a fold, which needs no money."] = None


@dataclass(frozen=True, slots=True)
class OptionsClosed:
    """No option can follow; boxes that passed come back in the final window (RULES.md section 4.6)."""

    box: WindowBox
    closed_at: ClosedAt
    passed: Annotated[tuple[BoxPlayers, ...], "Boxes without a choice."]


@dataclass(frozen=True, slots=True)
class FinalOptionsOpened:
    """The asked boxes may bet, insure or fold (RULES.md section 4.5)."""

    box: WindowBox
    asked: Annotated[tuple[BoxPlayers, ...], "Who is asked."]
    opened_at: OpenedAt
    closes_at: ClosesAt
    confirmed_by: ConfirmedBy = None


@dataclass(frozen=True, slots=True)
class FinalOptionChosen:
    """A box's final choice; `stand` leaves an earlier bet as it is, with or without insurance."""

    player: PlayerId
    box: BoxNumber
    choice: FinalChoice
    by: Annotated[ChosenBy, "`platform` where the window passed (RULES.md section 4.6)."]
    bet: Annotated[int, "Bet staked now, minor units; 0 when it stood already, or for a fold."] = 0
    insurance: Annotated[int, "Insurance staked now, minor units; 0 for none."] = 0
    arrived_at: Annotated[str | None, "When the player's command arrived; null for the platform."] = None
    bet_id: Annotated[BetId | None, "Null where no money was staked by the player."] = None
    reason: Annotated[DefaultReason | None, "Why the platform chose so; absent for the player's choice."] = (
        None
    )


@dataclass(frozen=True, slots=True)
class FinalOptionsClosed:
    """No final option can follow."""

    box: WindowBox
    closed_at: ClosedAt


@dataclass(frozen=True, slots=True)
class PurchaseOffered:
    """The dealer has no game; boxes may buy the exchange of the dealer's highest card (section 4.8)."""

    asked: Annotated[tuple[BoxPlayers, ...], "Boxes that may buy."]
    opened_at: OpenedAt
    closes_at: ClosesAt


@dataclass(frozen=True, slots=True)
class PurchaseMade:
    """A box bought the exchange for one ante; final once recorded."""

    player: PlayerId
    box: BoxNumber
    fee: Amount
    bet_id: BetId
    arrived_at: ArrivedAt


@dataclass(frozen=True, slots=True)
class PurchaseDeclined:
    """A box did not buy: the player's word, or the platform's when the window passed."""

    player: PlayerId
    box: BoxNumber
    by: ChosenBy
    arrived_at: Annotated[str | None, "When the player's command arrived; null for the platform."] = None


@dataclass(frozen=True, slots=True)
class PurchaseClosed:
    """No purchase can follow; the dealer draws when any was made."""

    closed_at: ClosedAt
