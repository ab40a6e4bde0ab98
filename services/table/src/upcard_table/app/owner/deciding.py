"""Deciding the works of a batch, one after the other, on the memory of the table's owner."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

import structlog

from rules_core.round import commands as c
from rules_core.round.decide import decide
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.times import to_epoch_us
from upcard_table.app.bonus_fence import needs_fence
from upcard_table.app.calls import Done, OpenRoundWork, Recorded, Refused, Result, RoundWork, TableWork
from upcard_table.app.funding.needs import (
    Needed,
    StakingCommand,
    funds_of,
    may_stake_money,
    wagers_to_hold,
)
from upcard_table.app.funding.resolving import is_default_stake
from upcard_table.app.owner.draft import Draft, result_of
from upcard_table.app.owner.hand import Item, arrives, is_dealt, stamped, with_funds
from upcard_table.app.owner.known import known_outcome
from upcard_table.app.owner.lanes import Lanes, lane_keys
from upcard_table.app.owner.memory import Memory
from upcard_table.app.owner.opening import open_round
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.app.ports import Funds, HoldsAnswer, WantedHolds
from upcard_table.app.rounds.live import LiveRound
from upcard_table.domain.decide import (
    cancels_round,
    check_dealer,
    check_source,
)
from upcard_table.domain.decide import decide as decide_table
from upcard_table.domain.words import round_name

LATE: Final = "hold_answered_late"
_OF_ANY_ROUND: Final = (c.Resettle, c.DeclineBet, c.CancelRound)
"""Commands that may name a round that is over."""
_CLOSES: Final = (c.CloseBetting, c.CloseOptions, c.CloseFinalOptions, c.ClosePurchase)
_NOT_OURS: Final = (c.OpenRound, c.Settle)
"""Commands that only the owner itself gives."""
US_IN_S: Final = 1_000_000
_BEYOND_MS: Final = 250

_log = structlog.get_logger("upcard_table")


class Deciding:
    """The works of one owner: decided, waiting for their money, or for a round to be loaded."""

    def __init__(self, funds: Funds, settings: OwnerSettings, now_us: Callable[[], int]) -> None:
        self.memory: Memory = Memory("")
        self.draft: Draft
        self.lanes: Lanes[Item] = Lanes()
        self.pending: dict[tuple[int, str], Item] = {}
        """Items whose money is being asked for, by round and bet id."""
        self.answered: deque[Item] = deque()
        """Items whose money was answered since the last batch."""
        self.closers: list[Item] = []
        """Items that ask for the close of a window whose time is over: it is drained first."""
        self.defaults: set[tuple[int, str]] = set()
        """Bets by default whose window is being closed, by round and bet id."""
        self.to_load: list[Item] = []
        """Items of rounds that are not in memory."""
        self.to_fence: list[Item] = []
        """Corrections before which the pools have to be fenced."""
        self.on_answer: Callable[[], None] = lambda: None
        self._funds = funds
        self._settings = settings
        self._now_us = now_us

    def do(self, item: Item) -> None:
        """Bring an item as far as it can be brought now, and those that wait for it."""
        todo = deque([item])
        while todo:
            one = todo.popleft()
            try:
                freed = self._do(one)
            except Exception as error:  # noqa: BLE001 - see below; it is logged and told
                # A defect in what one call asks must not stop the table. Not its words: they may show a card.
                _log.error("a command could not be decided", table=self.memory.table, error=_kind(error))
                one.call.fail(error)
                freed = self.release(one)
            todo.extendleft(reversed(freed))

    def finish(self, item: Item, result: Result) -> list[Item]:
        """Give an item its result; those that may go on now."""
        self.draft.resolve(item, result)
        return self.release(item)

    def release(self, item: Item) -> list[Item]:
        """Take an item out of its lanes; those that may go on now."""
        ticket, item.ticket = item.ticket, None
        return [] if ticket is None else self.lanes.leave(ticket)

    # -------------------------------------------------------------------------------------------- one item

    def _do(self, item: Item) -> list[Item]:
        work = item.work
        # What the wallet was asked for gets its stake or its decline, whether anybody waits for it or not.
        if item.result is not None or (item.call.dropped and item.needed is None):
            return self.release(item)
        item.call.begun = True
        self.draft.works += 1
        if item.refusal is not None:
            return self.finish(item, Refused(item.refusal, item.number or None))
        if isinstance(work, TableWork):
            return self.finish(item, self._table(item, work))
        if isinstance(work, OpenRoundWork):
            return self.finish(item, open_round(self.memory, self.draft, work, item.cause))
        live = self._round_of(item, work)
        if live is None:
            return []
        if isinstance(live, Refusal):
            return self.finish(item, Refused(live, item.number or None))
        return self._round(item, work, live)

    def _round_of(self, item: Item, work: RoundWork) -> LiveRound | Refusal | None:
        """The round that a work is for; None: it has to be loaded first."""
        last = self.memory.last_number
        if not item.number:
            item.number = work.number if work.number is not None else last
        number = item.number
        if number < 1:
            return refuse("round_not_open", "no round was opened yet")
        if number > last:
            return refuse(
                "round_unknown", f"round {number} was not opened; the last one is {last}", last=last
            )
        live = self.memory.rounds.get(number)
        # What was bound to its round while that was the last one goes on with it.
        if number < last and item.needed is None and not isinstance(work.command, _OF_ANY_ROUND):
            return refuse("round_over", f"round {number} is over; the last one is {last}", last=last)
        if live is None:
            self.to_load.append(item)
        return live

    def _round(self, item: Item, work: RoundWork, live: LiveRound) -> list[Item]:
        # What acts now, acts now: also when it is decided again. What has arrived, arrived when it did.
        command = item.command if item.command and arrives(item.command) else self._command(item, work)
        if isinstance(command, Refusal):
            return self.finish(item, Refused(command, live.number))
        item.command = command
        if item.ticket is None:
            keys = lane_keys(command, shared=live.state.ruleset.shared)
            if keys:
                item.ticket = self.lanes.enter(keys, item)
                if item.ticket is None:
                    return self.finish(item, Refused(_overloaded(), live.number))
        if item.ticket is not None and not item.ticket.going:
            return []
        known = known_outcome(live, command, item.cause)
        if known is not None:
            return self.finish(item, known)
        found = self._not_now(item, command)
        if found is not None:
            return self.finish(item, Refused(found, live.number))
        return self._new(item, command, live)

    def _command(self, item: Item, work: RoundWork) -> c.Command | Refusal:
        given = work.command
        if isinstance(given, _NOT_OURS):
            return refuse("not_yours", "the table does this by itself")
        command = stamped(work, item.call.arrived_at, self.draft.now.text)
        if isinstance(command, c.RepeatBets):
            return replace(command, previous=self.memory.previous_bets(command.player))
        return command

    def _not_now(self, item: Item, command: c.Command) -> Refusal | None:
        """What the table's state has against a command that is new: asked after it is known to be."""
        state = self.memory.state
        work = item.work
        by_hand = isinstance(work, RoundWork) and work.by_hand
        if (by_hand or is_dealt(command)) and (found := check_dealer(state, work.by.actor)) is not None:
            return found
        if isinstance(command, c.BurnCard):
            return check_source(state, "manual") if by_hand else None
        return check_source(state, command.source) if isinstance(command, c.ScanCard | c.RescanCard) else None

    def _new(self, item: Item, command: c.Command, live: LiveRound) -> list[Item]:
        if item.funds is not None:
            return self._funded(item, command, live, item.funds)
        if may_stake_money(command):
            return self._staking(item, command, live)
        found = self._held_up(item, command, live)
        if found == "later":
            return []
        return self.finish(item, found or self._decided(item, command, live))

    def _staking(self, item: Item, command: StakingCommand, live: LiveRound) -> list[Item]:
        """A command that may stake money, which is asked for where it is needed and the rules allow it."""
        needed = wagers_to_hold(command, live.state, live.sealed, reserve=self.reserves(live))
        if isinstance(needed, Refusal):
            return self.finish(item, Refused(needed, live.number))
        if not isinstance(needed, Needed):  # it came late: recorded, and nobody is asked
            return self.finish(item, self._decided(item, command, live))
        if not needed.wagers:
            return self.finish(item, self._decided(item, with_funds(command, "held"), live))
        bet_id = command.bet_id or ""
        if (live.number, bet_id) in self.pending:
            text = "this bet id is being recorded already; use a new one for a new bet"
            return self.finish(item, Refused(refuse("bet_id_used", text), live.number))
        self._ask(item, command.player, bet_id, needed, live)
        return []

    def _held_up(self, item: Item, command: c.Command, live: LiveRound) -> Result | Literal["later"] | None:
        """What has to happen before a command can be decided: `later`; or why it never will be."""
        if isinstance(command, _CLOSES) and self._drains(live, command):
            if self.memory.floor_round == live.number:
                text = "after an outage this window waits for the floor; extend it, or cancel the round"
                return Refused(refuse("waiting_for_floor", text), live.number)
            self.closers.append(item)
            return "later"
        if isinstance(command, c.DeclineBet):
            return self._of_default(live, command)
        if isinstance(command, c.Resettle) and not item.fenced and needs_fence(live.state):
            found = decide(command, live.state, live.sealed)
            if isinstance(found, Refusal):  # a pool that is fenced for nothing would wait for minutes
                return Refused(found, live.number)
            self.to_fence.append(item)
            return "later"
        return None

    def _of_default(self, live: LiveRound, command: c.DeclineBet) -> Result | None:
        """What is to be said of a bet by default, whose events name no bet id; None: it is no such bet."""
        name = round_name(live.table, live.number)
        if is_default_stake(live.state, name, command.player, command.bet_id):
            return Done((), live.number)
        if (live.number, command.bet_id) in self.defaults:
            text = "its money is being asked for; ask again when the window is closed"
            return Refused(refuse("hold_in_flight", text), live.number)
        return None

    def _drains(self, live: LiveRound, command: c.Command) -> bool:
        """Whether a window's close is due, so that what is under way has to be waited for."""
        window = live.state.window
        return window is not None and getattr(command, "at", "") >= window.closes_at

    def _decided(self, item: Item, command: c.Command, live: LiveRound) -> Result:
        command = _opening(command, live)
        decided = decide(command, live.state, live.sealed)
        if isinstance(decided, Refusal):
            return Refused(decided, live.number)
        by = item.work.by
        recorded = self.draft.record_round(live, command, decided, by.correlation_id, item.cause)
        self._floor_has_spoken(live, command)
        return result_of(live, recorded)

    def _floor_has_spoken(self, live: LiveRound, command: c.Command) -> None:
        """After these nothing waits for the floor any more."""
        if self.memory.floor_round == live.number and isinstance(command, c.ExtendWindow | c.CancelRound):
            self.memory.floor_round = None
            self.draft.floor_round = 0

    def own(self, live: LiveRound, command: c.Command) -> tuple[Recorded, ...] | Refusal:
        """Decide a command of the owner's own, and record what it gives."""
        decided = decide(command, live.state, live.sealed)
        if isinstance(decided, Refusal):
            return decided
        return self.draft.record_round(live, command, decided, live.correlation_id, None)

    # ------------------------------------------------------------------------------------------- the money

    def reserves(self, live: LiveRound) -> bool:
        """Whether an open box's bet is held with its ante in this round."""
        config = self.memory.state.config_of(live.number)
        return config is not None and config.reserve_bet_with_ante

    def _ask(self, item: Item, player: str, bet_id: str, needed: Needed, live: LiveRound) -> None:
        item.needed = needed
        key = (live.number, bet_id)
        self.pending[key] = item
        wanted = WantedHolds(
            round_name(live.table, live.number),
            player,
            needed.currency,
            bet_id,
            needed.wagers,
            item.work.by.correlation_id,
        )
        asking = self._funds.ask(wanted, self._hold_deadline_s(live))
        asking.add_done_callback(lambda done: self._told(key, item, done))

    def _told(self, key: tuple[int, str], item: Item, done: asyncio.Future[HoldsAnswer]) -> None:
        if done.cancelled() or self.pending.get(key) is not item:
            return  # declined as late: what is held is freed by that
        item.funds = done.result()
        del self.pending[key]
        self.answered.append(item)
        self.on_answer()

    def _hold_deadline_s(self, live: LiveRound) -> float:
        """How long an answer can be of use, on the event loop's clock."""
        left_us = self._settings.hold_timeout_ms * 1_000
        window = live.state.window
        config = self.memory.state.config_of(live.number)
        if window is not None and config is not None:
            # Beyond the last moment at which the close waits for it, so that the close speaks first.
            end_us = to_epoch_us(window.closes_at) + (config.close_drain_ms + _BEYOND_MS) * 1_000
            if window.kind == "final_options":
                end_us += config.default_hold_ms * 1_000
            left_us = min(left_us, max(0, end_us - self._now_us()))
        return asyncio.get_running_loop().time() + left_us / US_IN_S

    def _funded(self, item: Item, command: c.Command, live: LiveRound, answer: HoldsAnswer) -> list[Item]:
        """The answer is there: a stake, or a decline. Where money may be held, one of them is recorded."""
        if answer.outcome == "overloaded":
            return self.finish(item, Refused(_overloaded(), live.number))
        funds = funds_of(answer)
        funded = with_funds(command, funds)
        decided = decide(funded, live.state, live.sealed)
        if isinstance(decided, Refusal):
            if answer.outcome == "refused":
                return self.finish(item, Refused(decided, live.number))
            reason = decided.code if funds == "held" else "wallet_unavailable"
            return self.decline(item, live, reason)
        by = item.work.by
        recorded = self.draft.record_round(live, funded, decided, by.correlation_id, item.cause)
        return self.finish(item, result_of(live, recorded))

    def decline(self, item: Item, live: LiveRound, reason: str) -> list[Item]:
        """Record that an item whose money was asked for is no stake, so that the money is freed."""
        command, needed = item.command, item.needed
        assert command is not None and needed is not None and may_stake_money(command)  # noqa: PT018, S101 - it was asked for
        bet_id = command.bet_id or ""
        self.pending.pop((live.number, bet_id), None)
        given_up = c.DeclineBet(
            command.player,
            needed.currency,
            bet_id,
            needed.wagers,
            reason,
            item.call.arrived_at,
        )
        decided = decide(given_up, live.state, live.sealed)
        if isinstance(decided, Refusal):
            return self.finish(item, Refused(decided, live.number))
        by = item.work.by
        recorded = self.draft.record_round(live, given_up, decided, by.correlation_id, item.cause)
        return self.finish(item, result_of(live, recorded))

    # ------------------------------------------------------------------------------------------- the table

    def _table(self, item: Item, work: TableWork) -> Result:
        memory, by = self.memory, work.by
        decided = decide_table(work.command, memory.state, memory.last_round(), by.actor)
        if isinstance(decided, Refusal):
            return Refused(decided)
        recorded = self.draft.record_table(decided, by.actor, by.correlation_id, item.cause)
        # In the same transaction: no private round goes on in manual mode.
        cancelled = self.cancel_private(by.actor, by.correlation_id, item.cause)
        return Done((*recorded, *cancelled), memory.last_number if cancelled else None)

    def cancel_private(self, actor: str, correlation_id: str, cause: str | None) -> tuple[Recorded, ...]:
        """Cancel a running round that the table's mode does not allow."""
        memory = self.memory
        reason = cancels_round(memory.state, memory.last_round())
        live = memory.last
        if reason is None or live is None:
            return ()
        by = actor if actor.startswith(("dealer:", "staff:")) else "system"
        command = c.CancelRound(reason, by)
        decided = decide(command, live.state, live.sealed)
        if isinstance(decided, Refusal):
            return ()
        self._floor_has_spoken(live, command)
        return self.draft.record_round(live, command, decided, correlation_id, cause)


def _opening(command: c.Command, live: LiveRound) -> c.Command:
    """The round's own step in place of a confirmation that names cards, where it waits for these alone.

    After a last window a round opens its hands by itself; what was laid by hand only the dealer can name.
    """
    if isinstance(command, c.ConfirmCards) and command.manual_cards and live.state.step == "next":
        return c.Proceed(command.at, command.manual_cards)
    return command


def _overloaded() -> Refusal:
    return refuse("overloaded", "too many commands wait for their money; try again in a moment")


def _kind(error: Exception) -> str:
    return type(error).__name__
