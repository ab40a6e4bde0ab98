"""The close of a window by the clock: what is under way is drained, for a bounded time; then it is closed.

In this order (ARCHITECTURE.md, The close): BetDeclined for each hold that is still open, the platform's
choices, the closing event.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from rules_core.round import commands as c
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.state import Window
from rules_core.round.times import to_epoch_us
from upcard_table.app.calls import Done, Refused
from upcard_table.app.funding.defaults import BoxOfPlayer, DefaultBet, default_bets, unfunded
from upcard_table.app.funding.needs import funds_of
from upcard_table.app.owner.deciding import LATE, US_IN_S, Deciding
from upcard_table.app.owner.hand import Item
from upcard_table.app.ports import Funds, HoldsAnswer
from upcard_table.app.rounds.live import LiveRound
from upcard_table.domain.config import TableConfig
from upcard_table.domain.words import round_name

DECLINES_AT_ONCE: Final = 4_000
"""Most holds that are declined in one batch: a batch has a bound."""

_DECLINED: Final = HoldsAnswer("unknown", LATE)

WindowKey = tuple[int, str, int | None, str]
"""Round, kind, box and end of a window: one that was extended is another."""
_CLOSE: Final[dict[str, type[c.CloseBetting | c.CloseOptions | c.ClosePurchase]]] = {
    "betting": c.CloseBetting,
    "options": c.CloseOptions,
    "purchase": c.ClosePurchase,
}


@dataclass(slots=True)
class Close:
    """A close that has begun."""

    window: WindowKey
    drain_until_us: int
    defaults: tuple[DefaultBet, ...] | None = None
    """The default bets that were asked for; None: it has not come to that yet."""
    defaults_until_us: int = 0
    answers: dict[BoxOfPlayer, HoldsAnswer] = field(default_factory=dict)
    own: dict[BoxOfPlayer, Item] = field(default_factory=dict)
    """Choices that were under way by then: no second hold is asked for these boxes."""


class Closing:
    """Closes the windows of one owner's rounds."""

    def __init__(self, deciding: Deciding, funds: Funds) -> None:
        self._deciding = deciding
        self._funds = funds
        self._close: Close | None = None

    def forget(self) -> None:
        """The memory was dropped: what was drained is drained anew, within the same bounds."""
        close = self._close
        if close is not None and close.defaults is not None:
            # Asked for already: the same bets' holds are the same holds.
            close.defaults = None

    def close(self, live: LiveRound, window: Window, *, more_to_come: bool) -> int | Refusal | None:
        """Close the window if that can be done now: None. Else the instant at which to look again.

        `more_to_come`: whether commands that arrived before the window's end wait to be decided. What is
        still under way when the time is over is declined, before the closing command. Refusal: of that one.
        """
        now_us = self._deciding.draft.now.us
        ends_us = to_epoch_us(window.closes_at)
        if window.kind != "betting" and not live.state.undecided:
            begun = self._close
            if begun is not None and begun.window == _key_of(live, window) and begun.defaults:
                return self._end(live, window, begun)  # money was asked for that nobody needs now
            return self._record(live, self._command(live, window, None))
        if now_us < ends_us:
            return ends_us
        config = self._config(live)
        close = self._begun(live, window, ends_us, config)
        under_way = more_to_come or bool(self._under_way(live))
        if under_way and close.defaults is None and now_us < close.drain_until_us:
            return close.drain_until_us
        if window.kind == "final_options":
            until_us = self._defaults_due(close, live, config, under_way=under_way)
            if until_us is not None:
                return until_us
        return self._end(live, window, close)

    def _end(self, live: LiveRound, window: Window, close: Close) -> int | Refusal | None:
        # Before anything is declined: whose answer is missing is known only now.
        command = self._command(live, window, close)
        freed = self._decline_late(live, close)
        if self._under_way(live):
            return self._deciding.draft.now.us  # the others after this batch is stored
        self._deciding.defaults.clear()
        found = self._record(live, command)
        # Only now: they waited for their turn when the window ended, so nobody is asked for money any more.
        for item in freed:
            self._deciding.do(item)
        return found

    def _record(self, live: LiveRound, command: c.Command) -> Refusal | None:
        deciding = self._deciding
        closers, deciding.closers = deciding.closers, []
        recorded = deciding.own(live, command)
        for item in closers:
            same = item.number == live.number
            if isinstance(recorded, Refusal) or not same:
                deciding.finish(
                    item, Refused(recorded if isinstance(recorded, Refusal) else _closed(), live.number)
                )
            else:
                deciding.finish(item, Done(recorded, live.number))
        return recorded if isinstance(recorded, Refusal) else None

    def send_back(self, live: LiveRound | None) -> None:
        """Answer who asked for the close of a window that is not there any more."""
        deciding = self._deciding
        if deciding.closers and (live is None or live.state.window is None):
            closers, deciding.closers = deciding.closers, []
            for item in closers:
                deciding.finish(item, Refused(_closed(), item.number))

    def _begun(self, live: LiveRound, window: Window, ends_us: int, config: TableConfig) -> Close:
        key = _key_of(live, window)
        if self._close is None or self._close.window != key:
            # From now on where the owner comes late to it: what has arrived has its time all the same.
            begins_us = max(ends_us, self._deciding.draft.now.us)
            self._close = Close(key, begins_us + config.close_drain_ms * 1_000)
        return self._close

    def _config(self, live: LiveRound) -> TableConfig:
        config = self._deciding.memory.state.config_of(live.number)
        if config is None:
            raise LookupError(f"{live.stream}: the table has no configuration")
        return config

    def _under_way(self, live: LiveRound) -> list[Item]:
        """Items of this round whose money is being asked for, or has been answered just now."""
        number = live.number
        return [item for (of, _), item in self._deciding.pending.items() if of == number]

    # -------------------------------------------------------------------------------------- bets by default

    def _defaults_due(
        self, close: Close, live: LiveRound, config: TableConfig, *, under_way: bool
    ) -> int | None:
        """Ask for the default bets' money; until when to wait, None: no longer."""
        now_us = self._deciding.draft.now.us
        if close.defaults is None:
            own = self._boxes_in_flight(live)
            close.defaults = default_bets(
                live.state,
                live.sealed,
                round_name(live.table, live.number),
                live.correlation_id,
                reserve=self._deciding.reserves(live),
                in_flight=own,
            )
            close.own |= own
            if not close.defaults_until_us:
                close.defaults_until_us = now_us + config.default_hold_ms * 1_000
            deadline_s = (
                asyncio.get_running_loop().time() + max(0, close.defaults_until_us - now_us) / US_IN_S
            )
            for bet in close.defaults:
                self._ask(close, bet, deadline_s)
        asked = sum(1 for bet in close.defaults if bet.wanted is not None)
        if now_us >= close.defaults_until_us or (len(close.answers) >= asked and not under_way):
            return None
        return close.defaults_until_us

    def _ask(self, close: Close, bet: DefaultBet, deadline_s: float) -> None:
        key = (bet.box, bet.player)
        if bet.wanted is None:
            return
        self._deciding.defaults.add((close.window[0], bet.wanted.bet_id))
        if key in close.answers:
            return

        def told(done: asyncio.Future[HoldsAnswer]) -> None:
            if not done.cancelled() and key not in close.answers:
                close.answers[key] = done.result()
                self._deciding.on_answer()

        self._funds.ask(bet.wanted, deadline_s).add_done_callback(told)

    def _boxes_in_flight(self, live: LiveRound) -> dict[BoxOfPlayer, Item]:
        found = {}
        for item in self._under_way(live):
            command = item.command
            if isinstance(command, c.ChooseFinalOption):
                found[command.box, command.player] = item
        return found

    # ------------------------------------------------------------------------------------------- the close

    def _decline_late(self, live: LiveRound, close: Close) -> list[Item]:
        """BetDeclined for each hold that is open still, which frees it; those who waited for these."""
        deciding = self._deciding
        freed = []
        for item in self._under_way(live)[:DECLINES_AT_ONCE]:
            freed += deciding.decline(item, live, LATE)
        for bet in close.defaults or ():
            answer = close.answers.get((bet.box, bet.player))
            open_still = answer is None or answer.outcome == "unknown"
            if answer is not None and answer.outcome == "held":
                open_still = (bet.box, bet.player) not in live.state.undecided
            if bet.wanted is not None and open_still:
                wanted = bet.wanted
                at = deciding.draft.now.text
                deciding.own(
                    live,
                    c.DeclineBet(wanted.player, wanted.currency, wanted.bet_id, wanted.wagers, LATE, at),
                )
                # Also where the close itself comes with a later batch: what was declined is nobody's money.
                close.answers[bet.box, bet.player] = _DECLINED
        return freed

    def _command(self, live: LiveRound, window: Window, close: Close | None) -> c.Command:
        at = self._deciding.draft.now.text
        if window.kind != "final_options":
            return _CLOSE[window.kind](at)
        if close is None or close.defaults is None:
            return c.CloseFinalOptions(at)
        undecided = live.state.undecided
        own = close.own
        bets = [bet for bet in close.defaults if (bet.box, bet.player) in undecided]
        asked = [bet for bet in bets if (bet.box, bet.player) not in own]
        without = [
            _own_unfunded(bet, own[bet.box, bet.player]) for bet in bets if (bet.box, bet.player) in own
        ]
        return c.CloseFinalOptions(at, (*unfunded(asked, close.answers), *without))


def _own_unfunded(bet: DefaultBet, item: Item) -> tuple[int, str, c.Unfunded]:
    """A box whose own choice was under way when the others' money was asked for: no second hold is asked."""
    answer = item.funds
    refused = answer is not None and funds_of(answer) == "refused"
    return (bet.box, bet.player, "refused" if refused else "unavailable")


def _key_of(live: LiveRound, window: Window) -> WindowKey:
    return (live.number, window.kind, window.box, window.closes_at)


def _closed() -> Refusal:
    return refuse("window_not_open", "this window is closed")
