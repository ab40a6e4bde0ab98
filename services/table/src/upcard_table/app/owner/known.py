"""Whether a command was done before: then it gets the outcome that it got, and nothing is decided again."""

from __future__ import annotations

from typing import Any

from rules_core.cards import card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import refuse
from rules_core.round.sealed import commitment_of
from upcard_table.app.calls import Done, Recorded, Refused, Result
from upcard_table.app.owner.draft import result_of
from upcard_table.app.rounds.live import LiveRound


def known_outcome(live: LiveRound, command: c.Command, cause: str | None) -> Result | None:
    """The recorded outcome of this very command, or None: it is new to this round."""
    if isinstance(command, c.ScanCard | c.RescanCard | c.BurnCard):
        return _of_scan(live, command)
    bet_id: str | None = getattr(command, "bet_id", None)
    if bet_id is not None:
        found = live.outcomes.of_bet(bet_id)
        if found is not None:
            return _of_bet(live, command, found)
    if cause is not None:
        events = live.outcomes.of_cause(cause)
        if events:
            return Done(events, live.number)
    return None


def _of_bet(live: LiveRound, command: Any, found: Recorded) -> Result:  # noqa: ANN401 - whichever has a bet id
    event: Any = found.event
    if event.player != command.player:
        text = "this bet id is recorded already; use a new one for a new bet"
        return Refused(refuse("bet_id_used", text), live.number)
    return result_of(live, (found,))


def _of_scan(live: LiveRound, command: c.ScanCard | c.RescanCard | c.BurnCard) -> Result | None:
    found = live.outcomes.of_scan(command.scan_id)
    if found is None:
        return None
    if _reads_alike(command, found.event):
        return Done((found,), live.number)
    # Not which card it was: the one recorded may lie face down.
    text = "this scan id was used for another reading; each scan needs an id of its own"
    return Refused(refuse("scan_id_reused", text), live.number)


def _reads_alike(command: c.ScanCard | c.RescanCard | c.BurnCard, event: object) -> bool:
    """Whether a scan shows what was recorded under its id. A face-down card is compared by its commitment."""
    text = None if command.card is None else card_text(command.card)
    if isinstance(command, c.BurnCard):
        return isinstance(event, e.CardBurned) and event.card == text
    if isinstance(command, c.RescanCard):
        if not isinstance(event, e.CardRescanned) or event.place != command.place:
            return False
    elif not isinstance(event, e.CardScanned):
        return False
    if event.source != command.source:
        return False
    if event.commitment is None:
        return event.card == text
    if command.card is None or command.card_salt is None:
        return False
    try:
        return commitment_of(command.card, command.card_salt) == event.commitment
    except ValueError:  # no salt at all
        return False
