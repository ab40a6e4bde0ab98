"""What a correction of a settled round would change, decided by the very code that will decide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rules_core.log.bundle import Recorded
from rules_core.log.bundle_reading import UnreadableBundle, parse_bundle
from rules_core.log.openings import check_openings
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import PayloadError, event_of
from rules_core.round.decide import decide
from rules_core.round.decide.correcting import apply_choices
from rules_core.round.evolve import fold
from rules_core.round.refusal import Refusal
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState, new_round
from rules_core.rulesets.parse import parse_ruleset
from rules_core.rulesets.reader import RulesetError
from rules_core.settlement.model import BoxResult

__all__ = [
    "BoxChange",
    "Effect",
    "NotDecided",
    "PlayedBox",
    "RoundPlayed",
    "effect_of",
    "played_boxes",
    "played_cards",
    "played_of",
]

SOMEBODY_ELSE: Final = "staff:another-person"
"""Stands for whoever will approve: who it is changes nothing but the name in the event."""


class NotDecided(Exception):
    """The effect cannot be shown: the file of the round cannot be read by this program."""


@dataclass(frozen=True, slots=True)
class PlayedBox:
    """One player's box as it stands now, corrections included."""

    box: int
    player: str
    currency: str
    blind: bool
    option: str
    positions: tuple[int, ...]
    final: str
    insurance: int
    purchase: bool | None
    staked: int
    returned: int
    net: int
    outcome: str
    best: str


@dataclass(frozen=True, slots=True)
class RoundPlayed:
    """A settled round with what a correction speaks of."""

    state: RoundState
    events: tuple[e.RoundEvent, ...]
    boxes: tuple[PlayedBox, ...]
    cards: tuple[tuple[str, str], ...]
    """Places and the cards in them, in the order laid."""


@dataclass(frozen=True, slots=True)
class BoxChange:
    """A box whose result changes; amounts are minor units."""

    box: int
    player: str
    currency: str
    outcome_before: str
    outcome: str
    best_before: str
    best: str
    returned_before: int
    returned: int
    net_before: int
    net: int


@dataclass(frozen=True, slots=True)
class Effect:
    """What a correction would do."""

    changes: tuple[BoxChange, ...]
    sums: tuple[tuple[str, int], ...]
    """By currency: how much more all players have together, minor units, signed."""
    dealer_before: str
    dealer: str
    more: bool
    """Whether there are more players than were looked at."""


def played_of(bundle: bytes) -> RoundPlayed:
    """A round out of its bundle (docs/bundle.md). Raises NotDecided."""
    try:
        found, problems = parse_bundle(bundle)
        if found is None or problems:
            raise NotDecided("the round's file is not whole")
        ruleset = parse_ruleset(found.ruleset)
        if isinstance(ruleset, RulesetError):
            raise NotDecided("its rules are not known to this program")
        events = tuple(
            event_of(one.content.type, one.content.version, one.content.payload)
            for one in found.round.events
            if isinstance(one, Recorded)
        )
        state = fold(new_round(ruleset), events)
    except (UnreadableBundle, PayloadError, KeyError) as error:
        raise NotDecided("the round's file cannot be read by this program") from error
    if len(events) != len(found.round.events):
        raise NotDecided("events of the round are withheld")
    return RoundPlayed(state, events, played_boxes(state), played_cards(events))


def effect_of(
    played: RoundPlayed,
    proposer: str,
    reason: str,
    *,
    refund: bool,
    cards: Sequence[e.CardCorrection] = (),
    choices: Sequence[e.ChoiceCorrection] = (),
) -> Effect | Refusal:
    """What this correction would change, or why the rules refuse it."""
    state = played.state
    command = c.Resettle(reason, proposer, SOMEBODY_ELSE, refund, tuple(cards), tuple(choices))
    decided = decide(command, state, check_openings(played.events).sealed)
    if isinstance(decided, Refusal):
        return decided
    before = {
        (box.box, player): (box, seat.currency)
        for player, seat in state.seats.items()
        for box in seat.results
    }
    changes: list[BoxChange] = []
    sums: dict[str, int] = {}
    resettled: e.RoundResettled | None = None
    for event in decided:
        if isinstance(event, e.RoundResettled):
            resettled = event
        if not isinstance(event, e.PlayerSettled):
            continue
        for box in event.boxes:
            old, currency = before[box.box, event.player]
            if old.lines == box.lines:
                continue
            changes.append(_change(event.player, currency, old, box))
            sums[currency] = sums.get(currency, 0) + box.net - old.net
    dealer = _dealer(played.events)
    after = dealer if resettled is None else resettled.dealer.final
    return Effect(tuple(changes), tuple(sorted(sums.items())), dealer, after, resettled is None)


def _change(player: str, currency: str, old: BoxResult, new: BoxResult) -> BoxChange:
    return BoxChange(
        new.box,
        player,
        currency,
        old.outcome,
        new.outcome,
        old.best,
        new.best,
        old.returned,
        new.returned,
        old.net,
        new.net,
    )


def _dealer(events: Sequence[e.RoundEvent]) -> str:
    for event in reversed(events):
        if isinstance(event, (e.RoundSettled, e.RoundResettled)):
            return event.dealer.final
    return ""


def played_cards(events: Sequence[e.RoundEvent]) -> tuple[tuple[str, str], ...]:
    """Every place with the card that lay in it at the end, in the order laid; empty for one never read."""
    laid: dict[str, str] = {}
    for event in events:
        match event:
            case e.CardScanned(place=place, card=card) | e.CardRescanned(place=place, card=card):
                laid[place] = card or ""
            case e.CardsRevealed(openings=openings) | e.DealerRevealed(openings=openings):
                laid.update({one.place: one.card for one in openings if not one.superseded})
            case e.CorrectionDecided(cards=cards):
                laid.update({one.place: one.card for one in cards})
            case _:
                pass
    return tuple(laid.items())


def played_boxes(state: RoundState) -> tuple[PlayedBox, ...]:
    """Every player's boxes as they stand, corrections included, in the order of boxes and players."""
    corrected = apply_choices(state)
    found = [_box(seat, play) for seat in corrected.seats.values() for play in seat.ordered()]
    return tuple(sorted(found, key=lambda one: (one.box, one.player)))


def _box(seat: PlayerSeat, play: BoxPlay) -> PlayedBox:
    result = next((one for one in seat.results if one.box == play.box), None)
    return PlayedBox(
        box=play.box,
        player=seat.player,
        currency=seat.currency,
        blind=play.blind,
        option=play.option or "",
        positions=play.positions,
        final=play.final or "",
        insurance=play.insurance,
        purchase=play.purchase,
        staked=play.staked,
        returned=0 if result is None else result.returned,
        net=0 if result is None else result.net,
        outcome="" if result is None else result.outcome,
        best="" if result is None else result.best,
    )
