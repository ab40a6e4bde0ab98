"""What a service runs beside its work: taking events into the tree, signing, keeping checkpoints outside.

It never stops the service and never gives up: what fails is told, and tried again after a pause. A damaged
log or tree is told each time, since then nothing more is vouched for until people have looked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from eventstore.coordination.outages import PASSING, bounded_call
from eventstore.postgres import Pool
from transparency.chaining import STEP_EVENTS, LogDamaged, Step, take_in
from transparency.notes import SignerKey
from transparency.signing import MOST_AT_ONCE, keep_outside, sign_committed
from transparency.sinks import Sink, SinkDisagrees
from transparency.tiles import TreeDamaged

_CALL_S: Final = 20.0
"""Longest that a step, or signing, may take."""
_SINK_S: Final = 30.0
_PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""After failures that follow each other; the last one stays."""
_DAMAGE_PAUSE_S: Final = 60.0

Damage = LogDamaged | TreeDamaged | SinkDisagrees


class Observer(Protocol):
    """Is told what happens, for metrics and logs."""

    def taken_in(self, step: Step) -> None:
        """A step was committed and what there was signed."""

    def kept(self, sink: str, size: int) -> None:
        """A checkpoint lies outside."""

    def failed(self, doing: str, error: Exception) -> None:
        """It will be tried again."""

    def damaged(self, damage: Damage) -> None:
        """Something was changed that never changes: people have to look."""


@dataclass(frozen=True, slots=True)
class Chaining:
    """One log's chainer."""

    origin: str
    keys: Sequence[SignerKey]
    sinks: Sequence[Sink] = ()
    every_s: float = 1.0
    """How long events gather for a checkpoint."""


async def chain_for_ever(pool: Pool, chaining: Chaining, observer: Observer) -> None:
    """Take in what comes until cancelled. Any number of them may run on one log."""
    keepers = [_keep_for_ever(pool, chaining, sink, observer) for sink in chaining.sinks]
    async with asyncio.TaskGroup() as group:
        for keeper in keepers:
            group.create_task(keeper)
        group.create_task(_take_in_for_ever(pool, chaining, observer))


async def _take_in_for_ever(pool: Pool, chaining: Chaining, observer: Observer) -> None:
    failures = 0
    while True:
        try:
            step = await bounded_call(pool, _CALL_S, take_in)
            while (
                await bounded_call(
                    pool,
                    _CALL_S,
                    lambda connection: sign_committed(connection, chaining.origin, chaining.keys),
                )
                == MOST_AT_ONCE
            ):
                pass
        except (LogDamaged, TreeDamaged) as damage:
            observer.damaged(damage)
            await asyncio.sleep(_DAMAGE_PAUSE_S)
        except (*PASSING, TimeoutError) as error:
            observer.failed("taking in", error)
            await asyncio.sleep(_PAUSES_S[min(failures, len(_PAUSES_S) - 1)])
            failures += 1
        else:
            failures = 0
            observer.taken_in(step)
            if step.behind < STEP_EVENTS:
                await asyncio.sleep(chaining.every_s)


async def _keep_for_ever(pool: Pool, chaining: Chaining, sink: Sink, observer: Observer) -> None:
    failures = 0
    while True:
        try:
            size = await bounded_call(
                pool, _SINK_S, lambda connection: keep_outside(connection, chaining.origin, sink)
            )
        except SinkDisagrees as damage:
            observer.damaged(damage)
            await asyncio.sleep(_DAMAGE_PAUSE_S)
        except (*PASSING, TimeoutError, OSError) as error:
            observer.failed(f"keeping a checkpoint in {sink.name}", error)
            await asyncio.sleep(_PAUSES_S[min(failures, len(_PAUSES_S) - 1)])
            failures += 1
        else:
            failures = 0
            if size is not None:
                observer.kept(sink.name, size)
            await asyncio.sleep(chaining.every_s)
