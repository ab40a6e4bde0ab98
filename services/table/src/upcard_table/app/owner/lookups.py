"""Whether calls were answered before: those of all tables of a process, as many as queued in one query."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from typing import Final, Protocol

import structlog

from eventstore.answers import Answer, AnswerKey, RequestIdReused
from eventstore.answers.groups import MAX_GROUP
from upcard_table.app.owner.hand import OpenCall

_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 1.0

_log = structlog.get_logger("upcard_table")


class AnswerStore(Protocol):
    """Where answers are kept."""

    async def find_answers(self, keys: Sequence[AnswerKey]) -> Mapping[AnswerKey, Answer]:
        """The stored ones among these calls' answers."""
        ...


class Lookups:
    """Looks calls up before they are decided. A call keeps its place in its table's queue meanwhile."""

    def __init__(self, log: AnswerStore) -> None:
        self._log = log
        self._waiting: list[tuple[OpenCall, Callable[[], None]]] = []
        self._worker: asyncio.Task[None] | None = None

    def add(self, call: OpenCall, wake: Callable[[], None]) -> None:
        """Look a call up; `wake` is called when it is known."""
        self._waiting.append((call, wake))
        if self._worker is None:
            # In no caller's context: it works for many.
            self._worker = asyncio.create_task(self._work(), name="answers", context=Context())

    async def close(self) -> None:
        """Look nothing up any more."""
        worker = self._worker
        if worker is not None:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker

    async def _work(self) -> None:
        pause_s = _FIRST_PAUSE_S
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
                group = [(call, wake) for call, wake in group if not call.answer.done()]
                try:
                    await self._look_up(group)
                    pause_s = _FIRST_PAUSE_S
                except Exception:  # noqa: BLE001 - logged, and tried again
                    # Whatever it was, nothing was done: the calls wait until their deadlines.
                    _log.warning("answers could not be looked up", calls=len(group), exc_info=True)
                    self._waiting = group + self._waiting
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        finally:
            self._worker = None

    async def _look_up(self, group: Sequence[tuple[OpenCall, Callable[[], None]]]) -> None:
        keys = {call.call.answer.key for call, _ in group if call.call.answer is not None}
        found = await self._log.find_answers(list(keys))
        for call, wake in group:
            answer_if_known(call, found)
            call.looked_up = True
            wake()


def answer_if_known(call: OpenCall, found: Mapping[AnswerKey, Answer]) -> bool:
    """Give a call the answer that is stored for it, if there is one; whether it has its answer now."""
    slot = call.call.answer
    answer = None if slot is None else found.get(slot.key)
    if slot is None or answer is None:
        return False
    try:
        call.succeed(answer.checked(slot.key, slot.body_digest))
    except RequestIdReused as error:
        call.fail(error)
    return True
