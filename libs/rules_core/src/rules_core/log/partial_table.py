"""Checking what the table did for all, as far as it concerns one player or rests on shown events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rules_core.cards import CARD_OF
from rules_core.log.difference import Difference
from rules_core.log.partial_run import SYSTEM, PartialReplay, Shown, again, by, equals, rest_withheld
from rules_core.round import events as e
from rules_core.round.commands import Resettle
from rules_core.round.decide.correcting import apply_choices, corrected_state
from rules_core.round.decide.correction_rules import check_corrected, check_grounds
from rules_core.round.decide.ending import CANCEL_REASONS
from rules_core.round.decide.finals import asks_final
from rules_core.round.decide.purchase import may_purchase
from rules_core.round.decide.settling import (
    dealer_result,
    player_results,
    player_settled,
    refunded,
    settling_of,
)
from rules_core.round.decide.steps import dealer_revealed, requalified
from rules_core.round.places import SWITCH_CARDS, dealer_place
from rules_core.round.refusal import Refusal
from rules_core.round.state import BoxPlay, PlayerSeat
from rules_core.round.times import plus_ms
from rules_core.settlement.dealer import draws_needed
from rules_core.settlement.model import BoxResult

Check = Callable[[PartialReplay, Shown], Difference | None]


def _card(run: PartialReplay, shown: Shown) -> Difference | None:
    """A card in the place that awaits one; which place that is can rest on withheld choices."""
    state, place = run.state, shown.event.place
    kind, _, rest = place.partition(".")
    if isinstance(shown.event, e.CardScanned) and not state.awaited:
        wrong = _cannot_be_next(run, place)
        if wrong is not None:
            return shown.differs("payload.place", wrong, place)
        state.awaited = (place,)
    exclusive_public = kind == "box" and not state.ruleset.shared and not state.ruleset.private
    if exclusive_public and int(rest.partition(".")[0]) not in state.owners:
        rest_withheld(run, shown)
        return None
    return again(run, shown)


def _cannot_be_next(run: PartialReplay, place: str) -> str | None:
    """Why no card can be laid in a place that the shown events do not await, or None."""
    state = run.state
    if place in state.cards or place in state.commitments or place in state.unread:
        return "a place without a card"
    kind, *numbers = place.split(".")
    if kind == "draw":
        if (
            "PurchaseClosed" not in run.seen
            or "DealerRequalified" in run.seen
            or numbers != [f"{state.draws}"]
        ):
            return "no draw now"
        dealer = tuple(state.cards[dealer_place(i)] for i in range(5))
        drawn = tuple(state.cards[f"draw.{i}"] for i in range(state.draws))
        return None if draws_needed(state.ruleset, dealer, drawn) else "no further draw"
    if kind == "replacement" and not state.ruleset.shared and numbers[:1] == [f"{state.current_box}"]:
        laid = sum(
            1
            for known in (*state.cards, *state.commitments)
            if known.startswith(f"replacement.{numbers[0]}.")
        )
        fits = state.step in {"next", "replace"} and numbers[1] == f"{laid}" and laid < SWITCH_CARDS
        return None if fits else "no replacement card now"
    return "no card now"


def _dealer(run: PartialReplay, shown: Shown) -> Difference | None:
    openings = shown.event.openings
    manual = {opening.place: CARD_OF[opening.card] for opening in openings if not opening.committed}
    expected = dealer_revealed(run.state, run.sealed, shown.event.confirmed_by, manual)
    if isinstance(expected, Refusal):
        return shown.differs("payload.openings", f"a refusal ({expected.code})", "openings")
    return equals(run, expected, shown)


def _cards_revealed(run: PartialReplay, shown: Shown) -> Difference | None:
    """Each opening was checked against its commitment before anything was decided."""
    run.checked += 1
    return None if shown.event.final else by(shown, SYSTEM)


def _requalified(run: PartialReplay, shown: Shown) -> Difference | None:
    if not run.state.draws:
        return shown.differs("type", "a card drawn first", shown.type)
    return equals(run, requalified(run.state, shown.event.confirmed_by)[0], shown)


def _extended(run: PartialReplay, shown: Shown) -> Difference | None:
    event, opened = shown.event, run.state.opened
    if event.reason != "no_bets" or opened is None:
        return again(run, shown)
    if run.own():
        return shown.differs("payload.reason", f"no such reason: {run.player} has bets", event.reason)
    length = opened.durations.betting_ms
    expected = e.WindowExtended(
        "betting", None, plus_ms(event.decided_at, length), length, "no_bets", event.decided_at
    )
    return equals(run, expected, shown)


def _betting_closed(run: PartialReplay, shown: Shown) -> Difference | None:
    boxes = shown.event.boxes
    ruleset = run.state.ruleset
    if ruleset.shared:
        return equals(run, e.BettingClosed(shown.event.closed_at, tuple(range(1, ruleset.boxes + 1))), shown)
    missing = sorted(set(run.own()) - set(boxes))
    if missing or list(boxes) != sorted(set(boxes)):
        return shown.differs("payload.boxes", f"boxes in order, {run.player}'s among them", boxes)
    return _rest(run, shown)


def _rest(run: PartialReplay, shown: Shown) -> Difference | None:
    rest_withheld(run, shown)
    return by(shown, SYSTEM)


def _options_opened(run: PartialReplay, shown: Shown) -> Difference | None:
    event, opened = shown.event, run.state.opened
    length = opened.durations.options_ms if opened is not None else 0
    return _closes_after(shown, length) or _own_box(run, event.box, shown) or _rest(run, shown)


def _own_box(run: PartialReplay, box: int | None, shown: Shown) -> Difference | None:
    """On exclusive tables this player's open boxes come in number order, none left out."""
    if box is None:
        return None
    skipped = [b for b, p in run.own().items() if b < box and not p.blind and p.option is None]
    if skipped:
        return shown.differs("payload.box", skipped[0], box)
    return None


def _closes_after(shown: Shown, length_ms: int) -> Difference | None:
    closes_at = plus_ms(shown.event.opened_at, length_ms)
    if shown.event.closes_at == closes_at:
        return None
    return shown.differs("payload.closes_at", closes_at, shown.event.closes_at)


def _finals_opened(run: PartialReplay, shown: Shown) -> Difference | None:
    event, opened = shown.event, run.state.opened
    length = opened.durations.final_options_ms if opened is not None else 0

    def due(play: BoxPlay) -> bool:
        return event.box in {None, play.box} and asks_final(run.state, run.sealed, play, {})

    return _closes_after(shown, length) or _own_part(run, shown, event.asked, due, "payload.asked")


def _offered(run: PartialReplay, shown: Shown) -> Difference | None:
    event, opened = shown.event, run.state.opened
    length = opened.durations.purchase_ms if opened is not None else 0

    def due(play: BoxPlay) -> bool:
        return may_purchase(run.state, run.sealed, play, {})

    return _closes_after(shown, length) or _own_part(run, shown, event.asked, due, "payload.asked")


def _options_closed(run: PartialReplay, shown: Shown) -> Difference | None:
    event = shown.event

    def passed(play: BoxPlay) -> bool:
        return not play.blind and play.option is None and event.box in {None, play.box}

    return _own_part(run, shown, event.passed, passed, "payload.passed")


def _own_part(
    run: PartialReplay,
    shown: Shown,
    groups: tuple[e.BoxPlayers, ...],
    due: Callable[[BoxPlay], bool],
    field: str,
) -> Difference | None:
    """Whether exactly this player's boxes that are due are named; the others rest on what is withheld."""
    named = sorted(group.box for group in groups if run.player in group.players)
    expected = sorted(box for box, play in run.own().items() if due(play))
    if named != expected:
        return shown.differs(field, f"boxes {expected} of {run.player}", named)
    return _rest(run, shown)


def _settled(run: PartialReplay, shown: Shown) -> Difference | None:
    if shown.event.player != run.player:
        rest_withheld(run, shown)
        return None
    seat, results = _own_results(run)
    resettling = run.state.step == "resettling"
    if bool(seat.revision) != resettling or (resettling and _same_lines(results, seat.results)):
        return shown.differs("type", "no result of this player now", shown.type)
    return equals(run, player_settled(seat, results), shown)


def _same_lines(one: tuple[BoxResult, ...], other: tuple[BoxResult, ...]) -> bool:
    return [box.lines for box in one] == [box.lines for box in other]


def _own_results(run: PartialReplay) -> tuple[PlayerSeat, tuple[BoxResult, ...]]:
    """This player's boxes as they settle now, corrections included."""
    state = run.state
    state.corrected_choices = [fix for fix in state.corrected_choices if fix.player == run.player]
    settling = settling_of(apply_choices(state), run.sealed)
    seat = settling.state.seats[run.player]
    results = player_results(settling, seat)
    return seat, refunded(results) if state.refunded else results


def _round_settled(run: PartialReplay, shown: Shown) -> Difference | None:
    dealer = dealer_result(settling_of(run.state, run.sealed).dealer)
    if shown.event.dealer != dealer:
        return shown.differs("payload.dealer", dealer, shown.event.dealer)
    seat = run.state.seats.get(run.player)
    if seat is not None:
        staked = sum(box.staked for box in seat.results)
        returned = sum(box.returned for box in seat.results)
        total = {total.currency: total for total in shown.event.totals}.get(seat.currency)
        if total is None or not total.players or total.staked < staked or total.returned < returned:
            return shown.differs("payload.totals", f"at least those of {run.player}", shown.event.totals)
    return _rest(run, shown)


def _cancelled(run: PartialReplay, shown: Shown) -> Difference | None:
    if shown.event.reason not in CANCEL_REASONS:
        return shown.differs("payload.reason", " or ".join(CANCEL_REASONS), shown.event.reason)
    run.checked += 1
    return None


def _corrected(run: PartialReplay, shown: Shown) -> Difference | None:
    """The grounds of a correction; whether it fits rests on all players' boxes."""
    event = shown.event
    if event.number != run.state.correction + 1:
        return shown.differs("payload.number", run.state.correction + 1, event.number)
    people = (event.proposer, event.approver)
    command = Resettle(event.reason, *people, event.refund, event.cards, event.choices)
    wrong = check_grounds(command, run.state) or _check_own_correction(run, command)
    if wrong is not None:
        return shown.differs("payload", f"a refusal ({wrong.code})", "an event")
    rest_withheld(run, shown)
    return by(shown, event.approver)


def _check_own_correction(run: PartialReplay, command: Resettle) -> Refusal | None:
    """Whether the correction is possible for this player's boxes and all the cards."""
    seat = run.state.seats.get(run.player)
    if seat is None:
        return None
    own = replace(command, choices=tuple(fix for fix in command.choices if fix.player == run.player))
    alone = replace(run.state, seats={run.player: seat})
    alone.corrected_choices = [fix for fix in alone.corrected_choices if fix.player == run.player]
    corrected = corrected_state(alone, own)
    if not any(play.purchase for play in corrected.seats[run.player].plays.values()):
        corrected.draws = 0  # bought by others alone, whose boxes are not in this case
    return check_corrected(corrected, run.sealed)


def _resettled(run: PartialReplay, shown: Shown) -> Difference | None:
    """A correction that changes this player's lines gives the player a new revision."""
    if shown.event.number != run.state.correction:
        return shown.differs("payload.number", run.state.correction, shown.event.number)
    if run.player in run.state.seats:
        seat, results = _own_results(run)
        if not _same_lines(results, seat.results):
            return shown.differs("type", f"a PlayerSettled of {run.player}", shown.type)
    return _rest(run, shown)


TABLE_CHECKS: dict[type[Any], Check] = {
    e.RoundOpened: again,
    e.WindowExtended: _extended,
    e.BettingClosed: _betting_closed,
    e.CardScanned: _card,
    e.CardRescanned: _card,
    e.CardBurned: again,
    e.CardsRevealed: _cards_revealed,
    e.DealerRevealed: _dealer,
    e.OptionsOpened: _options_opened,
    e.OptionsClosed: _options_closed,
    e.FinalOptionsOpened: _finals_opened,
    e.FinalOptionsClosed: _rest,
    e.PurchaseOffered: _offered,
    e.PurchaseClosed: _rest,
    e.DealerRequalified: _requalified,
    e.PlayerSettled: _settled,
    e.RoundSettled: _round_settled,
    e.RoundCancelled: _cancelled,
    e.CorrectionDecided: _corrected,
    e.RoundResettled: _resettled,
}
"""Events of the table; of any other, something rests on what is withheld."""
