"""Whether a shown event can come now, as far as the shown events tell (CONTRACTS.md section 2, order)."""

from __future__ import annotations

from rules_core.log.difference import Difference
from rules_core.log.partial_run import PartialReplay, Shown
from rules_core.round import events as e
from rules_core.round.decide.finals import asks_final
from rules_core.round.decide.purchase import may_purchase
from rules_core.round.hands import dealer_five, undealt
from rules_core.round.state import RoundState
from rules_core.settlement.dealer import dealer_hands

_ONCE = (
    e.RoundOpened,
    e.BettingClosed,
    e.DealerRevealed,
    e.PurchaseOffered,
    e.PurchaseClosed,
    e.DealerRequalified,
    e.RoundSettled,
    e.RoundCancelled,
)
_AFTER_THE_END = (e.BetDeclined, e.CorrectionDecided, e.PlayerSettled, e.RoundResettled)
_CARDS_LIE = (
    e.OptionsOpened,
    e.FinalOptionsOpened,
    e.DealerRevealed,
    e.PurchaseOffered,
    e.DealerRequalified,
    e.PlayerSettled,
    e.RoundSettled,
)
_WINDOWS = (
    e.OptionsOpened,
    e.FinalOptionsOpened,
    e.DealerRevealed,
    e.PurchaseOffered,
    e.PlayerSettled,
    e.RoundSettled,
)
_SHOWDOWN_STEPS = frozenset({"deal", "replace", "next"})
_AFTER_LAST_CARDS = frozenset({"PlayerSettled", "RoundSettled", "RoundCancelled"})
MAY_BE_WITHHELD = frozenset({"PlayerSettled"})
"""What may follow the last openings and be another player's."""
_CLOSING = {
    "BettingClosed": "betting",
    "OptionsClosed": "options",
    "FinalOptionsClosed": "final_options",
    "PurchaseClosed": "purchase",
}


def check_order(run: PartialReplay, shown: Shown) -> Difference | None:
    """The first reason why this event cannot come at this point, or None."""
    state, event = run.state, shown.event
    if not isinstance(event, e.RoundOpened) and state.opened is None:
        return shown.differs("type", "RoundOpened", shown.type)
    if isinstance(event, _ONCE) and shown.type in run.seen:
        return shown.differs("type", f"one {shown.type} in a round", "another")
    if state.ended and not isinstance(event, _AFTER_THE_END):
        return shown.differs("type", "nothing but corrections after the end", shown.type)
    if isinstance(event, e.RoundCancelled) and "PlayerSettled" in run.seen:
        return shown.differs("type", "no cancellation once players are settled", shown.type)
    if isinstance(event, _CARDS_LIE) and state.awaited:
        return shown.differs("type", f"a card in {state.awaited[0]}", shown.type)
    if isinstance(event, _WINDOWS) and state.window is not None:
        return shown.differs("type", f"the {state.window.kind} window closed first", shown.type)
    return _check_reveal(run, shown) or _check_closing(run, shown) or _check_asked(run, shown)


def _check_reveal(run: PartialReplay, shown: Shown) -> Difference | None:
    """Boxes open beside the dealer's hand, the rest right before the end (RULES.md sections 4.7 and 4.9)."""
    due, run.due = run.due, frozenset()
    if due and shown.type not in due:
        return shown.differs("type", " or ".join(sorted(due)), shown.type)
    event = shown.event
    if isinstance(event, e.CardsRevealed) and event.final:
        run.due = _AFTER_LAST_CARDS
    elif isinstance(event, (e.CardsRevealed, e.DealerRevealed)):
        private = run.state.ruleset.private
        first = isinstance(event, e.DealerRevealed) if private else run.last != "CardsRevealed"
        if first and run.state.step not in _SHOWDOWN_STEPS:
            return shown.differs("type", "no showdown now", shown.type)
        if isinstance(event, e.CardsRevealed):
            if private and run.last != "DealerRevealed":
                return shown.differs("type", "the dealer's hand first", shown.type)
            run.due = frozenset() if private else frozenset({"DealerRevealed"})
    return None


def _check_closing(run: PartialReplay, shown: Shown) -> Difference | None:
    kind = _CLOSING.get(shown.type)
    window = run.state.window
    if kind is None:
        return None
    if window is None or window.kind != kind:
        return shown.differs("type", f"an open {kind} window", shown.type)
    if getattr(shown.event, "box", window.box) != window.box:
        return shown.differs("payload.box", window.box, shown.event.box)
    early = shown.event.closed_at < window.closes_at
    undecided = run.own_undecided()
    passed, run.defaulted = run.defaulted or (kind == "options" and bool(undecided)), False
    if kind == "betting" or passed:
        return shown.differs("payload.closed_at", window.closes_at, shown.event.closed_at) if early else None
    if undecided and kind != "options":
        # The platform's choices come before the closing event.
        return shown.differs("type", f"a choice for box {undecided[0]} of {run.player}", shown.type)
    return None


def _check_asked(run: PartialReplay, shown: Shown) -> Difference | None:
    """Whether this player was asked what the rules ask, before the round went on."""
    own = run.own().values()
    if isinstance(shown.event, e.DealerRevealed):
        for play in own:
            if not play.blind and play.option is None:
                return shown.differs("type", f"options asked of box {play.box}", shown.type)
            if asks_final(run.state, run.sealed, play, {}):
                return shown.differs("type", f"final options asked of box {play.box}", shown.type)
    first_settled = (
        isinstance(shown.event, (e.PlayerSettled, e.RoundSettled)) and "PlayerSettled" not in run.seen
    )
    bought = any(play.purchase for play in own)
    if first_settled and bought and "DealerRequalified" not in run.seen:
        return shown.differs("type", "DealerRequalified, since this player bought", shown.type)
    if first_settled and "PurchaseOffered" not in run.seen and _purchase_due(run, run.state):
        return shown.differs("type", f"the purchase offered to {run.player}", shown.type)
    return None


def _purchase_due(run: PartialReplay, state: RoundState) -> bool:
    rules = state.ruleset.purchase
    if rules is None or undealt(state) < rules.reserve_cards:
        return False
    if dealer_hands(state.ruleset, dealer_five(state, run.sealed), ()).first.qualifies:
        return False
    return any(may_purchase(state, run.sealed, play, {}) for play in run.own().values())


def check_end(run: PartialReplay) -> str | None:
    """What of this player's settlement is missing when all shown events are folded, or None."""
    seat = run.state.seats.get(run.player)
    if run.state.step == "settled" and seat is not None and not seat.revision:
        return f"the round is settled, but no PlayerSettled of {run.player} is shown"
    return None
