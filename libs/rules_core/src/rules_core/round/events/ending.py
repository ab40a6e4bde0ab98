"""Events that end a round or correct it (RULES.md section 4.9; CONTRACTS.md section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rules_core.round.events.fields import (
    CardText,
    CorrectedFinal,
    CorrectedOption,
    Currency,
    PlaceName,
    PlayerId,
)
from rules_core.settlement.model import BoxResult, DealerResult


@dataclass(frozen=True, slots=True)
class PlayerSettled:
    """Every line of every box of one player; a later revision replaces the earlier one whole."""

    player: PlayerId
    currency: Currency
    revision: Annotated[int, "1 at the settlement, one more with each correction of this player."]
    boxes: Annotated[tuple[BoxResult, ...], "In box order."]
    staked: Annotated[int, "All stakes and fees of the round, minor units."]
    returned: Annotated[int, "What goes back to the player, stakes included, minor units."]
    net: Annotated[int, "returned less staked."]


@dataclass(frozen=True, slots=True)
class CurrencyTotal:
    """A round's sums in one currency."""

    currency: Currency
    players: Annotated[int, "Players settled."]
    staked: Annotated[int, "Minor units."]
    returned: Annotated[int, "Minor units."]


@dataclass(frozen=True, slots=True)
class RoundSettled:
    """Every player is settled."""

    dealer: DealerResult
    totals: Annotated[tuple[CurrencyTotal, ...], "One entry a currency, in alphabetical order."]


@dataclass(frozen=True, slots=True)
class RoundCancelled:
    """Every wager and fee of the round goes back, whatever had been won (RULES.md section 4.9)."""

    reason: Annotated[str, "A slug of RULES.md section 7."]
    unread: Annotated[tuple[str, ...], "Places whose face-down card was never read (manual mode)."] = ()


@dataclass(frozen=True, slots=True)
class CardCorrection:
    """The card that really lay in a place."""

    place: PlaceName
    card: CardText


@dataclass(frozen=True, slots=True)
class ChoiceCorrection:
    """What a player's box really did; absent fields stay as recorded."""

    box: int
    player: PlayerId
    option: Annotated[CorrectedOption | None, "The option really chosen; `none`: the window passed."] = None
    positions: Annotated[tuple[int, ...], "With option `exchange`."] = ()
    final: Annotated[CorrectedFinal | None, "The final option really chosen."] = None
    insurance: Annotated[int | None, "Minor units."] = None
    purchase: Annotated[bool | None, "Whether the box bought."] = None


@dataclass(frozen=True, slots=True)
class CorrectionDecided:
    """A settled round is corrected; the whole input of the correction."""

    number: Annotated[int, "1, 2, … within the round."]
    reason: Annotated[str, "A slug of RULES.md section 7; `wrong_result` refunds every wager."]
    proposer: Annotated[str, "`staff:<id>` who proposed it."]
    approver: Annotated[str, "`staff:<id>` who approved it, another person."]
    refund: Annotated[bool, "Every wager goes back."]
    cards: tuple[CardCorrection, ...] = ()
    choices: tuple[ChoiceCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundResettled:
    """Every player whose lines changed has a new revision."""

    number: Annotated[int, "The correction's number."]
    dealer: DealerResult
    totals: Annotated[tuple[CurrencyTotal, ...], "The round's sums after the correction."]
