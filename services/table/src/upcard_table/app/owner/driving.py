"""The round's own steps: its owner opens windows, closes them, confirms the cards, opens hands, settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rules_core.round import commands as c
from rules_core.round.driver import next_step
from rules_core.round.refusal import Refusal
from rules_core.round.times import to_epoch_us
from upcard_table.app.owner.closing import Closing
from upcard_table.app.owner.deciding import Deciding
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.app.ports import OwnerObserver
from upcard_table.app.rounds.live import LiveRound

STEPS_AT_ONCE: Final = 8
"""Most steps of one round in a batch. Only a settlement has more in a row, and is stored in between."""


class Driving:
    """Takes the steps of one owner's rounds that are due."""

    def __init__(
        self,
        deciding: Deciding,
        closing: Closing,
        settings: OwnerSettings,
        observer: OwnerObserver,
        arrived_before: Callable[[int], bool],
    ) -> None:
        self._deciding = deciding
        self._closing = closing
        self._settings = settings
        self._observer = observer
        self._arrived_before = arrived_before
        self.served_since_us = 0
        """Since when this owner serves the table: the dealer gets the whole time to confirm."""
        self._refused: dict[int, int] = {}
        """By round, the position at which its own step was refused: it waits for somebody's command."""

    def forget(self) -> None:
        """The memory was dropped."""
        self._refused.clear()

    def drive(self) -> int | None:
        """Take the steps that are due; when the next one is, as far as time decides that."""
        memory = self._deciding.memory
        due: int | None = None
        for live in list(memory.rounds.values()):
            if live.number == memory.last_number or live.state.step == "resettling":
                due = _earlier(due, self._drive(live))
        self._closing.send_back(memory.last)
        return due

    def _drive(self, live: LiveRound) -> int | None:
        memory = self._deciding.memory
        if live.number == memory.last_number:
            self._deciding.cancel_private("system", live.correlation_id, None)
        for _ in range(STEPS_AT_ONCE):
            if memory.floor_round == live.number and live.state.window is not None:
                return None
            if self._refused.get(live.number) == live.position:
                return None
            before = live.position
            found = self._step(live)
            if isinstance(found, Refusal):
                self._refused[live.number] = live.position
                self._observer.refused(found.code)
                return None
            if found is not None or live.position == before:
                return found
            if live.state.step in {"settling", "resettling"}:
                break  # the next players after this batch is stored
        return self._deciding.draft.now.us if live.position else None

    def _step(self, live: LiveRound) -> int | Refusal | None:
        """Take the next step: None, without events where there is none. Or when it is due, or its refusal."""
        state = live.state
        step = next_step(state, live.sealed)
        now = self._deciding.draft.now
        if step == "close_window" and state.window is not None:
            window = state.window
            ends_us = to_epoch_us(window.closes_at)
            found = self._closing.close(live, window, more_to_come=self._arrived_before(ends_us))
            if found is None and now.us > ends_us:
                self._observer.late((now.us - ends_us) / 1_000_000)
            return found
        if step == "confirm_cards":
            return self._confirm(live)
        if step == "proceed":
            return self._own(live, c.Proceed(now.text))
        if step == "settle":
            return self._own(live, c.Settle(self._settings.settle_chunk))
        return None

    def _confirm(self, live: LiveRound) -> int | Refusal | None:
        config = self._deciding.memory.state.config_of(live.number)
        if config is None:
            raise LookupError(f"{live.stream}: the table has no configuration")
        now = self._deciding.draft.now
        due_us = max(live.laid_us, self.served_since_us) + config.confirm_cards_ms * 1_000
        if now.us < due_us:
            return due_us
        return self._own(live, c.ConfirmCards(now.text, "system"))

    def _own(self, live: LiveRound, command: c.Command) -> Refusal | None:
        recorded = self._deciding.own(live, command)
        return recorded if isinstance(recorded, Refusal) else None


def _earlier(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
