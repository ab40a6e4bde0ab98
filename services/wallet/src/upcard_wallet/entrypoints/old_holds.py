"""Old holds are resolved: their tables' owners are asked, again and again, and what they decline is freed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore import Appended
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Pool, append_in_transaction
from servicekit.context import new_correlation_id
from upcard_wallet.adapters import metrics
from upcard_wallet.app.old_holds import OldCommand, Questions, RoundOwner, Word, free_declined
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.entrypoints.faults import reach

MOST_AT_ONCE: Final = 64
"""Most commands of one turn."""
_ASKED_AT_ONCE: Final = 8
_ASK_WITHIN_S: Final = 5.0
_CLAIM_S: Final = MOST_AT_ONCE / _ASKED_AT_ONCE * _ASK_WITHIN_S + 20.0
"""How long a turn may take at the most: from then on another instance may ask."""
_LONGEST_PAUSE_S: Final = 3_600.0
_LONGEST_SILENCE_S: Final = 300.0
_MOST_FORGOTTEN: Final = 1_000

_log = structlog.get_logger("upcard_wallet.old_holds")


@dataclass
class OldHolds:
    """Every instance runs it: who asks about what is settled in the database."""

    pool: Pool
    wallet: Wallet
    questions: Questions
    owner: RoundOwner
    announce: Callable[[Sequence[Appended]], None]
    age_s: float
    """From which age on a hold is asked about."""
    interval_s: float = 5.0
    """How often to look."""
    _failing: bool = field(default=False, init=False)

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at the next turn."""
        while not ending.is_set():
            try:
                more = await self.turn() >= MOST_AT_ONCE
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the money's other ways
                metrics.upkeep_failures.labels("old holds").inc()
                if not self._failing:
                    passing = isinstance(error, PASSING)
                    _log.warning("old holds are not looked at", exc_info=None if passing else error)
                self._failing, more = True, False
            else:
                self._failing = False
            if not more:
                await _pause(ending, self.interval_s)

    async def turn(self) -> int:
        """Ask about the oldest ones that are due; how many there were."""
        async with self.pool.acquire() as connection:
            await self.questions.forget(connection, _MOST_FORGOTTEN)
            commands = await self.questions.claim(connection, self.age_s, MOST_AT_ONCE, _CLAIM_S)
        if not commands:
            return 0
        places = asyncio.Semaphore(_ASKED_AT_ONCE)

        async def ask(command: OldCommand) -> Word | None:
            if command.is_tip:
                return "declined"
            async with places:
                return await self.owner.word_on(command, _ASK_WITHIN_S)

        words = await asyncio.gather(*map(ask, commands))
        reach("wallet.old_holds.answered")
        said = list(zip(commands, words, strict=True))
        for word in words:
            metrics.old_holds.labels(word or "unknown").inc()
        await self._free([command for command, word in said if word == "declined"])
        await self._ask_again([(command, word) for command, word in said if word != "declined"])
        return len(commands)

    async def _free(self, declined: Sequence[OldCommand]) -> None:
        if not declined:
            return
        async with self.pool.acquire() as connection, connection.transaction():
            done = await free_declined(
                self.wallet, connection, declined, Origin("system", new_correlation_id())
            )
            appended = await append_in_transaction(connection, done.appends) if done.appends else ()
        self.announce(appended)
        _log.info("old holds that are no stakes are free", commands=len(declined), holds=done.answer)

    async def _ask_again(self, undecided: Sequence[tuple[OldCommand, Word | None]]) -> None:
        if undecided:
            async with self.pool.acquire() as connection:
                pauses = [(command, self._pause_s(command, word)) for command, word in undecided]
                await self.questions.again_in(connection, pauses)

    def _pause_s(self, command: OldCommand, word: Word | None) -> float:
        """A stake is asked about seldom, a table that does not answer soon."""
        if word is None:
            return min(self.interval_s * 2.0 ** min(command.asked, 30), _LONGEST_SILENCE_S)
        return min(self.age_s * 2.0 ** min(command.asked, 30), _LONGEST_PAUSE_S)


async def _pause(ending: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await ending.wait()
    except TimeoutError:
        return
