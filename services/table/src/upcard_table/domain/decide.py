"""`decide(command, state, last, actor) -> events | refusal`: pure and total, the one judge of a table.

The refusals' slugs are listed in docs/table.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rules_core.round.refusal import Refusal, refuse
from upcard_table.domain import commands as c
from upcard_table.domain import events as e
from upcard_table.domain.config import check_config, ruleset_of
from upcard_table.domain.state import Deck, LastRound, TableState
from upcard_table.domain.words import OPAQUE, SLUG, is_currency, is_opaque_id, is_slug, is_transaction

MAX_DECKS: Final = 8
"""Most decks at a table at once."""
MAX_AMOUNT: Final = 2**53 - 1

Decision = tuple[e.TableEvent, ...] | Refusal


def decide(command: c.TableCommand, state: TableState, last: LastRound, actor: str) -> Decision:
    """What becomes of a command: the events to append, in order, or why not.

    `last` is the last round that was opened, `actor` who asks (`dealer:<id>`, `staff:<id>`, …).
    """
    if not isinstance(command, c.OpenTable):
        found = _check_exists(command, state)
        if found is None and not isinstance(command, c.SignInDealer | c.SignOutDealer):
            found = check_dealer(state, actor)
        if found is not None:
            return found
    return _DECIDE[type(command)](command, state, last, actor)


def may_open_round(state: TableState, last: LastRound) -> Refusal | None:
    """Why no round can be opened now, or None."""
    config = state.config
    if not state.open or config is None:
        return _closed()
    if last.running:
        return _running(last)
    if state.dealer is None:
        return refuse("dealer_missing", "sign a dealer in first")
    if state.manual_mode and ruleset_of(config).private:
        text = "cards that only their player may see need the shoe reader; leave manual mode first"
        return refuse("manual_mode", text)
    found = _check_dropped(state, last)
    if found is not None:
        return found
    return None if _ready(state, last) else _no_deck(state)


def deck_for_round(state: TableState, last: LastRound) -> str | None:
    """The deck that the next round is played with, if one is verified and shuffled since the last round.

    Of several, the one that was introduced last.
    """
    ready = _ready(state, last)
    return ready[-1].deck if ready else None


def cancels_round(state: TableState, last: LastRound) -> str | None:
    """The reason for which a running round must be cancelled in this state of the table, or None.

    A private table cannot go on without its reader (CONTRACTS.md section 2): the owner cancels in the same
    transaction as `ManualModeEntered`, and again after a crash that fell in between.
    """
    config = state.config_of(last.number)
    if not last.running or not state.manual_mode or config is None or not ruleset_of(config).private:
        return None
    return "technical_failure"


def check_source(state: TableState, source: str) -> Refusal | None:
    """Whether a card may come this way now: from the shoe reader, or in manual mode from the dealer."""
    if source == "manual" and not state.manual_mode:
        return refuse("manual_mode_off", "the shoe reader reads the cards; enter manual mode first")
    if source == "shoe" and state.manual_mode:
        return refuse("manual_mode_on", "the dealer enters the cards; leave manual mode first")
    return None


def check_dealer(state: TableState, actor: str) -> Refusal | None:
    """Whether who acts may deal here: of all dealers only the one who is signed in at this table."""
    if actor.startswith("dealer:") and actor != f"dealer:{state.dealer}":
        return refuse("dealer_differs", "another dealer deals here; sign in at this table first")
    return None


def _check_exists(command: c.TableCommand, state: TableState) -> Refusal | None:
    if not state.table:
        return refuse("table_unknown", "open the table first")
    # Money that was posted is recorded whatever the table is by then.
    return None if state.open or isinstance(command, c.RecordTip | c.CloseTable) else _closed()


def _closed() -> Refusal:
    return refuse("table_closed", "the table is closed; open it first")


def _running(last: LastRound) -> Refusal:
    return refuse("round_running", f"round {last.number} is running; wait for its end", round=last.number)


def _check_dropped(state: TableState, last: LastRound) -> Refusal | None:
    """After a dropped card nothing goes on before that deck is verified, or gone (RULES.md section 7)."""
    if last.cancelled != "card_dropped" or last.deck is None:
        return None
    deck = state.deck(last.deck)
    if deck is None or (deck.verified_after_round is not None and deck.verified_after_round >= last.number):
        return None
    text = "a card of this deck was dropped; verify it again, or retire it"
    return refuse("deck_not_verified", text, deck=deck.deck)


def _ready(state: TableState, last: LastRound) -> list[Deck]:
    return [
        deck
        for deck in state.decks
        if deck.verified_after_round is not None and deck.shuffled_after_round == last.number
    ]


def _no_deck(state: TableState) -> Refusal:
    if not state.decks:
        return refuse("deck_missing", "introduce, verify and shuffle a deck first")
    if all(deck.verified_after_round is None for deck in state.decks):
        return refuse("deck_not_verified", "verify a deck first", deck=state.decks[-1].deck)
    return refuse("deck_not_shuffled", "shuffle a verified deck first", deck=state.decks[-1].deck)


def _open_table(command: c.OpenTable, state: TableState, last: LastRound, _: str) -> Decision:
    if state.open:
        return refuse("table_open", "the table is open already; change its limits instead")
    if not is_opaque_id(command.table):
        return refuse("word_invalid", f"table: {OPAQUE}", key="table")
    if state.table and command.table != state.table:
        return refuse("table_differs", f"this stream is that of table {state.table}", table=state.table)
    found = check_config(command.config)
    return found or (e.TableOpened(command.table, command.config, last.number + 1),)


def _close_table(_: c.CloseTable, state: TableState, last: LastRound, __: str) -> Decision:
    if not state.open:
        return refuse("table_closed", "the table is closed already")
    if last.running:
        return _running(last)
    events: list[e.TableEvent] = []
    if state.dealer is not None:
        events.append(e.DealerSignedOut(state.dealer))
    if state.shift is not None:
        events.append(e.ShiftEnded(state.shift, last.number))
    return (*events, e.TableClosed(last.number))


def _change_limits(command: c.ChangeLimits, state: TableState, last: LastRound, _: str) -> Decision:
    if command.config == state.config:
        return refuse("nothing_changed", "the table has these settings already")
    found = check_config(command.config)
    return found or (e.LimitsChanged(command.config, last.number + 1),)


def _sign_in(command: c.SignInDealer, state: TableState, _: LastRound, __: str) -> Decision:
    if not is_opaque_id(command.dealer):
        return refuse("word_invalid", f"dealer: {OPAQUE}", key="dealer")
    if state.dealer is not None:
        text = "a dealer is signed in already; sign that one out first"
        return refuse("dealer_signed_in", text, dealer=state.dealer)
    return (e.DealerSignedIn(command.dealer),)


def _sign_out(_: c.SignOutDealer, state: TableState, last: LastRound, actor: str) -> Decision:
    if state.dealer is None:
        return refuse("dealer_missing", "no dealer is signed in")
    if actor.startswith("dealer:"):
        if actor != f"dealer:{state.dealer}":
            return refuse("dealer_differs", "another dealer is signed in", dealer=state.dealer)
        if last.running:
            return _running(last)
    return (e.DealerSignedOut(state.dealer),)


def _start_shift(command: c.StartShift, state: TableState, last: LastRound, _: str) -> Decision:
    if not is_opaque_id(command.shift):
        return refuse("word_invalid", f"shift: {OPAQUE}", key="shift")
    if state.shift is not None:
        return refuse("shift_running", "a shift is running; end it first", shift=state.shift)
    return (e.ShiftStarted(command.shift, last.number),)


def _end_shift(_: c.EndShift, state: TableState, last: LastRound, __: str) -> Decision:
    if state.shift is None:
        return refuse("shift_missing", "no shift is running")
    return (e.ShiftEnded(state.shift, last.number),)


def _introduce(command: c.IntroduceDeck, state: TableState, _: LastRound, __: str) -> Decision:
    if not is_opaque_id(command.deck):
        return refuse("word_invalid", f"deck: {OPAQUE}", key="deck")
    if state.deck(command.deck) is not None:
        return refuse("deck_known", "this deck is at the table already", deck=command.deck)
    if command.deck in state.retired:
        return refuse("deck_retired", "a retired deck never comes back", deck=command.deck)
    if len(state.decks) >= MAX_DECKS:
        text = f"a table has at most {MAX_DECKS} decks; retire one"
        return refuse("too_many_decks", text, maximum=MAX_DECKS)
    return (e.DeckIntroduced(command.deck),)


def _find_deck(deck: str, state: TableState, last: LastRound) -> Deck | Refusal:
    """A deck at the table that is not in use."""
    found = state.deck(deck)
    if found is None:
        if deck in state.retired:
            return refuse("deck_retired", "this deck was retired", deck=deck)
        return refuse("deck_unknown", "introduce the deck first", deck=deck)
    if last.running and last.deck == deck:
        return refuse("deck_in_use", f"round {last.number} is played with this deck", deck=deck)
    return found


def _verify(command: c.VerifyDeck, state: TableState, last: LastRound, _: str) -> Decision:
    found = _find_deck(command.deck, state, last)
    return found if isinstance(found, Refusal) else (e.DeckVerified(command.deck, last.number),)


def _shuffle(command: c.ShuffleDeck, state: TableState, last: LastRound, _: str) -> Decision:
    found = _find_deck(command.deck, state, last)
    if isinstance(found, Refusal):
        return found
    if found.verified_after_round is None:
        return refuse("deck_not_verified", "verify the deck first", deck=command.deck)
    return (e.DeckShuffled(command.deck, last.number),)


def _retire(command: c.RetireDeck, state: TableState, last: LastRound, _: str) -> Decision:
    found = _find_deck(command.deck, state, last)
    if isinstance(found, Refusal):
        return found
    if not is_slug(command.reason):
        return refuse("word_invalid", f"reason: {SLUG}", key="reason")
    return (e.DeckRetired(command.deck, command.reason),)


def _enter_manual(command: c.EnterManualMode, state: TableState, last: LastRound, _: str) -> Decision:
    if state.manual_mode:
        return refuse("manual_mode_on", "the table is in manual mode already")
    if not is_slug(command.reason):
        return refuse("word_invalid", f"reason: {SLUG}", key="reason")
    return (e.ManualModeEntered(command.reason, last.number),)


def _leave_manual(_: c.LeaveManualMode, state: TableState, last: LastRound, __: str) -> Decision:
    if not state.manual_mode:
        return refuse("manual_mode_off", "the table is not in manual mode")
    # Cards that were laid without a scan have to be named by the dealer before the round's end.
    return _running(last) if last.running else (e.ManualModeLeft(last.number),)


def _record_tip(command: c.RecordTip, state: TableState, _: LastRound, __: str) -> Decision:
    for key, text in (("player", command.player), ("dealer", command.dealer)):
        if text is not None and not is_opaque_id(text):
            return refuse("word_invalid", f"{key}: {OPAQUE}", key=key)
    if not is_transaction(command.transaction):
        return refuse("word_invalid", "transaction: a UUID", key="transaction")
    if not is_currency(command.currency):
        return refuse("word_invalid", "currency: three capital letters", key="currency")
    if not 0 < command.amount <= MAX_AMOUNT:
        return refuse("amount_invalid", "a tip is above zero", amount=command.amount)
    if command.transaction in state.recent_tips:
        return refuse("tip_recorded", "this tip is recorded already", transaction=command.transaction)
    tip = e.TipGiven(command.player, command.currency, command.amount, command.transaction, command.dealer)
    return (tip,)


_DECIDE: Final[dict[type[Any], Callable[[Any, TableState, LastRound, str], Decision]]] = {
    c.OpenTable: _open_table,
    c.CloseTable: _close_table,
    c.ChangeLimits: _change_limits,
    c.SignInDealer: _sign_in,
    c.SignOutDealer: _sign_out,
    c.StartShift: _start_shift,
    c.EndShift: _end_shift,
    c.IntroduceDeck: _introduce,
    c.VerifyDeck: _verify,
    c.ShuffleDeck: _shuffle,
    c.RetireDeck: _retire,
    c.EnterManualMode: _enter_manual,
    c.LeaveManualMode: _leave_manual,
    c.RecordTip: _record_tip,
}
