"""What has to happen outside before some commands can be decided: rounds are loaded, pools fenced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

import structlog

from rules_core.round.refusal import Refusal, refuse
from upcard_table.app.calls import NotOwner
from upcard_table.app.owner.deciding import Deciding
from upcard_table.app.owner.hand import Item
from upcard_table.app.owner.memory import load_into
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.app.ports import Fence, LogAway, TableLog
from upcard_table.domain.words import round_name

_log = structlog.get_logger("upcard_table")


class Preparing:
    """Prepares the items of one owner beside its task; `prepared` gives them back to it."""

    def __init__(
        self,
        deciding: Deciding,
        log: TableLog,
        fence: Fence,
        settings: OwnerSettings,
        prepared: Callable[[Sequence[Item]], None],
    ) -> None:
        self._deciding = deciding
        self._log = log
        self._fence = fence
        self._settings = settings
        self._prepared = prepared
        self._tasks: set[asyncio.Task[None]] = set()
        self._loading: dict[int, list[Item]] = {}
        """Who waits for a round that is being loaded: what a second load brings could be older."""

    def stop(self) -> None:
        """Prepare nothing more."""
        for task in self._tasks:
            task.cancel()

    def prepare(self) -> None:
        """Begin with what was found to need it."""
        deciding = self._deciding
        to_load, deciding.to_load = deciding.to_load, []
        for item in to_load:
            waiting = self._loading.get(item.number)
            if waiting is not None:
                waiting.append(item)
                continue
            self._loading[item.number] = [item]
            self._start(self._load_for_all(item.number))
        to_fence, deciding.to_fence = deciding.to_fence, []
        for item in to_fence:
            self._start(self._fence_pools(item))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name=f"table {self._deciding.memory.table}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load_for_all(self, number: int) -> None:
        try:
            await self._load(number, self._loading[number])
        finally:
            del self._loading[number]

    async def _load(self, number: int, items: Sequence[Item]) -> None:
        memory = self._deciding.memory
        if len(memory.rounds) >= self._settings.rounds_loaded:
            text = "too many rounds are being corrected; try again in a moment"
            self._give_back(items, refuse("overloaded", text))
            return
        try:
            live = await load_into(self._log, memory, number)
        except LogAway:
            self._fail(items, NotOwner(memory.table, None))
        except Exception as error:  # noqa: BLE001 - logged, and told; not its words: they may show a card
            kind = type(error).__name__
            _log.error("a round could not be loaded", table=memory.table, round=number, error=kind)
            self._fail(items, error)
        else:
            missing = refuse("round_unknown", f"round {number} was not opened", round=number)
            self._give_back(items, missing if live is None else None)

    async def _fence_pools(self, item: Item) -> None:
        call = item.call.call
        name = round_name(call.table, item.number)
        try:
            refusal = await self._fence.before_correction(name, item.work.by, call.deadline_s)
        except Exception as error:  # noqa: BLE001 - logged, and told
            _log.error("a round's pools could not be fenced", round=name, error=type(error).__name__)
            self._fail([item], error)
        else:
            item.fenced = True
            self._give_back([item], refusal)

    def _fail(self, items: Sequence[Item], error: Exception) -> None:
        for item in items:
            item.call.fail(error)
        self._prepared(items)

    def _give_back(self, items: Sequence[Item], refusal: Refusal | None) -> None:
        for item in items:
            item.refusal = refusal
        self._prepared(items)
