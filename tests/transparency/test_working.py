"""The worker: takes in what comes, keeps it outside, tells of what fails and goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from tests.messaging.waiting import until
from tests.transparency.world import ORIGIN, World
from transparency import chaining, working
from transparency.chaining import Step
from transparency.notes import Note
from transparency.sinks import FileSink
from transparency.working import Chaining, Damage, chain_for_ever


@dataclass
class Told:
    """What an observer was told."""

    steps: list[Step] = field(default_factory=list)
    outside: list[tuple[str, int]] = field(default_factory=list)
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)

    def taken_in(self, step: Step) -> None:
        self.steps.append(step)

    def kept(self, sink: str, size: int) -> None:
        self.outside.append((sink, size))

    def failed(self, doing: str, error: Exception) -> None:
        self.failures.append((doing, error))

    def damaged(self, damage: Damage) -> None:
        self.damages.append(damage)


@contextlib.asynccontextmanager
async def running(world: World, *sinks: FileSink) -> AsyncIterator[Told]:
    told = Told()
    wanted = Chaining(ORIGIN, [world.key], sinks, every_s=0.01)
    task = asyncio.create_task(chain_for_ever(world.pool, wanted, told))
    try:
        yield told
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def outside_is(told: Told, size: int) -> bool:
    """Whether the checkpoint of this size came to lie outside last."""
    return bool(told.outside) and told.outside[-1] == ("files", size)


async def test_what_is_appended_is_soon_signed_and_outside(world: World, tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    async with running(world, sink) as told:
        for size in (5, 10, 15):
            await world.append("round-t1.1", 5)
            await until(partial(outside_is, told, size), what="the checkpoint lies outside")
    assert not told.failures
    assert not told.damages
    kept = list(sink.kept(ORIGIN))
    assert len(kept) == len(told.outside)
    assert (await world.audit(kept)).found == []


async def test_a_database_or_a_disk_that_is_away_is_waited_for(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "_PAUSES_S", (0.01,))
    asked = []

    class Full(FileSink):
        async def keep(self, origin: str, size: int, note: Note) -> None:
            asked.append(size)
            if len(asked) < 3:
                raise OSError("no space left")
            await super().keep(origin, size, note)

    away = []
    take_in = chaining.take_in

    async def taken(connection: object) -> Step:
        away.append(1)
        if len(away) < 3:
            raise asyncpg.CannotConnectNowError("starting up")
        return await take_in(connection)  # type: ignore[arg-type]  # what bounded_call gives

    monkeypatch.setattr(working, "take_in", taken)
    await world.append("round-t1.1", 5)
    async with running(world, Full(tmp_path)) as told:
        await until(lambda: bool(told.outside), what="a checkpoint lies outside")
    assert told.outside == [("files", 5)]
    assert [doing for doing, _ in told.failures] == ["taking in"] * 2 + ["keeping a checkpoint in files"] * 2


async def test_damage_is_told_and_the_rest_goes_on(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "_DAMAGE_PAUSE_S", 0.01)
    sink = FileSink(tmp_path)
    await world.fill(3, 3)
    async with running(world, sink) as told:
        await until(lambda: bool(told.outside), what="a checkpoint lies outside")
        (size,) = {size for _, size in told.outside}
        await world.pool.execute("DELETE FROM transparency.kept")
        await world.pool.execute(
            "UPDATE transparency.checkpoints SET root = sha256(root) WHERE size = $1", size
        )
        await until(lambda: bool(told.damages), what="damage is told")
        assert str(told.damages[0]) == f"{size:020d}.checkpoint of files is another checkpoint"
        before = len(told.steps)
        await world.append("round-t1.1")
        await until(lambda: any(step.events for step in told.steps[before:]), what="the chainer goes on")
        await world.pool.execute("DELETE FROM transparency.tree")
        await until(lambda: "own row" in str(told.damages[-1]), what="damage is told again")
