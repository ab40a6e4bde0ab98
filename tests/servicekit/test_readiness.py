"""Readiness: asked now, of everything at once, each within its time."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import generate_latest

from servicekit.health import Check, NotReady, Phase, Readiness, below, mirror_readiness
from servicekit.health.readiness import MOST_CHECKS
from servicekit.metrics import registry


class Asked:
    """A check that counts, waits and fails as it is told."""

    def __init__(self) -> None:
        self.times = 0
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> None:
        self.times += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error


def running(*checks: Check, kept_for_s: float = 0.0) -> Readiness:
    readiness = Readiness(kept_for_s=kept_for_s)
    for check in checks:
        readiness.add(check)
    readiness.enter(Phase.RUNNING)
    return readiness


@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.STOPPING])
async def test_a_service_that_does_not_run_is_not_ready(phase: Phase) -> None:
    asked = Asked()
    readiness = running(Check("database", asked))
    readiness.enter(phase)
    report = await readiness.report()
    assert (report.ready, report.results, asked.times) == (False, (), 0)


async def test_it_is_ready_when_every_check_passes() -> None:
    one, other = Asked(), Asked()
    readiness = running(Check("one", one), Check("other", other))
    assert (await readiness.report()).ready
    other.error = NotReady("no database")
    report = await readiness.report()
    assert not report.ready
    assert [(result.name, result.problem) for result in report.results] == [
        ("one", None),
        ("other", "no database"),
    ]


async def test_an_exception_shows_its_class_and_not_its_words() -> None:
    asked = Asked()
    asked.error = RuntimeError("password hunter2 was refused")
    (result,) = (await running(Check("one", asked)).report()).results
    assert result.problem == "failed: RuntimeError"


async def test_checks_run_together_and_each_has_a_deadline() -> None:
    one, other = Asked(), Asked()
    one.gate.clear()
    other.gate.clear()
    readiness = running(Check("one", one, within_s=0.05), Check("other", other, within_s=0.05))
    results = (await readiness.report()).results
    assert [result.problem for result in results] == ["no answer within 0.05 s"] * 2
    assert (one.times, other.times) == (1, 1)


async def test_who_comes_meanwhile_gets_the_same_answer() -> None:
    asked = Asked()
    asked.gate.clear()
    readiness = running(Check("one", asked))
    several = [asyncio.create_task(readiness.report()) for _ in range(5)]
    await asyncio.sleep(0)
    several[0].cancel()  # the first one goes away
    await asyncio.sleep(0)
    asked.gate.set()
    reports = await asyncio.gather(*several[1:])
    assert all(report.ready for report in reports)
    assert asked.times == 1


async def test_an_answer_is_kept_for_a_moment_and_not_over_a_change() -> None:
    asked = Asked()
    readiness = running(Check("one", asked), kept_for_s=3_600)
    await readiness.report()
    await readiness.report()
    assert asked.times == 1
    readiness.add(Check("other", Asked()))
    assert len((await readiness.report()).results) == 2
    readiness.remove("one")
    assert [result.name for result in (await readiness.report()).results] == ["other"]


async def test_what_was_asked_before_a_change_is_not_kept() -> None:
    asked = Asked()
    asked.gate.clear()
    readiness = running(Check("one", asked), kept_for_s=3_600)
    before = asyncio.create_task(readiness.report())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    readiness.add(Check("other", Asked()))
    asked.gate.set()
    assert len((await before).results) == 1
    assert len((await readiness.report()).results) == 2


def test_checks_are_bounded_and_named_once() -> None:
    readiness = Readiness()
    readiness.add(Check("0", Asked()))
    with pytest.raises(ValueError, match="already"):
        readiness.add(Check("0", Asked()))
    for number in range(1, MOST_CHECKS):
        readiness.add(Check(str(number), Asked()))
    with pytest.raises(ValueError, match="more than"):
        readiness.add(Check("one more", Asked()))
    for within_s in (0.0, -1.0, 4.1):
        with pytest.raises(ValueError, match=r"at most 4\.0 s"):
            readiness.add(Check("slow", Asked(), within_s))


async def test_it_is_a_metric_too() -> None:
    asked = Asked()
    asked.error = NotReady("no")
    await running(Check("one", asked)).report()
    text = generate_latest(registry()).decode()
    assert "upcard_ready 0.0" in text
    assert 'upcard_check_ok{check="one"} 0.0' in text


@pytest.mark.parametrize(("lag", "problem"), [(10, None), (11, "11 events behind, at most 10 are borne")])
async def test_a_measure_below_its_bound(lag: int, problem: str | None) -> None:
    async def measured() -> int:
        return lag

    for measure in (measured, lambda: lag):
        (result,) = (await running(below("lag", measure, 10, what="events behind")).report()).results
        assert result.problem == problem


async def test_another_health_service_is_told() -> None:
    asked, told, ending = Asked(), asyncio.Queue[bool](), asyncio.Event()
    work = asyncio.create_task(
        asyncio.wait_for(mirror_readiness(running(Check("one", asked)), told.put, every_s=0.01)(ending), 60)
    )
    assert await told.get() is True
    asked.error = NotReady("no")
    while await told.get():
        pass
    asked.error = None
    while not await told.get():
        pass
    ending.set()
    await work
    assert [told.get_nowait() for _ in range(told.qsize())][-1] is False
