"""Every round can be brought to its end, and what is recorded of it can be verified by anyone."""

from __future__ import annotations

from rules_core.log.bundle import Bundle, bundle_bytes, withhold_for
from rules_core.log.verify import verify_bundle
from rules_core.round import commands as c
from rules_core.round.driver import NextStep, next_step
from rules_core.round.refusal import Refusal
from tests.rules_core.histories import bundle_of
from tests.rules_core.stateful.choices import Choices, chance
from tests.rules_core.stateful.houses import DURATIONS
from tests.rules_core.stateful.sensible import CLOSINGS, advance, choose
from tests.rules_core.stateful.table import Table

STEPS_MAX = 300
LATE = "9000-01-01T00:00:00.000000Z"


def check_next_step(table: Table) -> None:
    """What the table has to do next is accepted, every other step of its own is refused."""
    step, window, at = next_step(table.state, table.sealed), table.state.window, LATE
    own_steps: dict[NextStep, c.Command] = {
        "open": table.open_command(),
        "confirm_cards": c.ConfirmCards(at, "system"),
        "proceed": c.Proceed(at),
        "settle": c.Settle(),
    }
    for name, command in own_steps.items():
        decision = table.ask(command)
        unread = isinstance(decision, Refusal) and decision.code == "card_missing"
        assert (unread or not isinstance(decision, Refusal)) == (name == step), (step, command, decision)
    for kind, close in CLOSINGS.items():
        assert table.accepts(close(at)) == (window is not None and window.kind == kind)
    room = DURATIONS.extension_max_ms - table.course.extended_ms
    for extend_ms in (-1, 0, 1, room, room + 1):
        fits = window is not None and 0 < extend_ms <= room
        assert table.accepts(c.ExtendWindow(at, extend_ms, "floor")) == fits
    check_cards(table, awaited=step == "lay_card")
    running = table.state.step not in {"new", "settling", "settled", "resettling", "cancelled"}
    assert table.accepts(c.CancelRound("dealer_mistake", "dealer:d1")) == running
    table.unchanged()


def check_cards(table: Table, *, awaited: bool) -> None:
    """Only a card that was not read yet can come, and only one that is not confirmed is read again."""
    laid = table.laid
    scan, salt = "a-new-scan", "f" * 32
    for card in laid.read():
        assert not table.accepts(c.ScanCard(scan, card, salt))
        assert not table.accepts(c.BurnCard(scan, card))
    deck = laid.deck()
    if not deck:
        return
    assert table.accepts(c.ScanCard(scan, deck[0], salt)) == awaited
    for place in laid.truth:
        if place not in laid.unread and not place.startswith("draw."):
            again = c.RescanCard(scan, place, deck[0], salt)
            assert table.accepts(again) == (place in laid.unconfirmed)


def end(table: Table, choices: Choices) -> None:
    """Close the windows, lay what is missing, settle; cancel where nobody bets or no card is left."""
    for _ in range(STEPS_MAX):
        step = next_step(table.state, table.sealed)
        if step == "none":
            break
        if chance(choices, 10):
            check_next_step(table)
        without_bets = table.state.step == "betting" and not table.state.seats
        without_cards = bool(table.state.awaited) and not table.laid.deck()
        if without_bets or without_cards:
            cancel(table)
            break
        if chance(choices, 30) and table.state.step not in {"betting", "new"}:
            command = choose(table, choices)
            if command is not None:
                table.do(command)
                continue
        advance(table, choices)
    assert table.state.step in {"settled", "cancelled"}
    assert next_step(table.state, table.sealed) == "none"


def cancel(table: Table) -> None:
    """Cancel the round, where there is one that can be cancelled."""
    table.do(c.CancelRound("technical_failure", "staff:floor-1"))


def check_verified(table: Table, player: str) -> None:
    """The bundle of the round is found right: whole, and with what others did withheld from a player."""
    bundle = bundle_of(table.ruleset, table.recorded)
    _check(bundle)
    _check(withhold_for(bundle, player))


def _check(bundle: Bundle) -> None:
    report = verify_bundle(bundle_bytes(bundle))
    assert (report.exit_code, report.problems, report.difference) == (0, [], None), report.sentences()
    assert report.decisions > 0
