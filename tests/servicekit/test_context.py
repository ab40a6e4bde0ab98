"""Ids that travel with the work."""

from __future__ import annotations

import asyncio

import pytest

from servicekit import context


def test_nothing_is_known_at_first() -> None:
    assert context.current() == context.NOTHING
    assert (context.correlation_id(), context.causation_id(), context.actor()) == (None, None, None)


def test_what_is_bound_holds_within_and_no_longer() -> None:
    with context.bind(correlation_id="c-1", actor="player:p1"):
        with context.bind(causation_id="e-1"):
            assert context.current() == context.Work("c-1", "e-1", "player:p1")
        assert context.causation_id() is None
    assert context.current() == context.NOTHING


def test_it_ends_with_an_exception_too() -> None:
    with pytest.raises(RuntimeError), context.bind(correlation_id="c-1"):
        raise RuntimeError
    assert context.correlation_id() is None


async def test_tasks_inherit_and_do_not_disturb_each_other() -> None:
    async def one(name: str) -> str | None:
        with context.bind(correlation_id=name):
            await asyncio.sleep(0)
            return await asyncio.create_task(inherited())

    async def inherited() -> str | None:
        return context.correlation_id()

    assert tuple(await asyncio.gather(one("a"), one("b"))) == ("a", "b")


async def test_a_detached_task_speaks_for_nobody() -> None:
    async def inherited() -> str | None:
        return context.correlation_id()

    with context.bind(correlation_id="first-caller"):
        assert await asyncio.create_task(inherited(), context=context.detached()) is None


@pytest.mark.parametrize("unfit", ["", "x" * 129, "a b", "a\nb", "ä", '"', "a\x00"])
def test_an_unfit_id_is_refused_by_bind_and_replaced_at_the_edge(unfit: str) -> None:
    with pytest.raises(context.UnfitId), context.bind(correlation_id=unfit):
        pass
    assert context.is_fit(context.accepted_correlation_id(unfit))


@pytest.mark.parametrize("fit", ["a", "x" * 128, "0b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "player:p1"])
def test_a_fit_id_is_kept(fit: str) -> None:
    assert context.accepted_correlation_id(fit) == fit


def test_fresh_ids_differ() -> None:
    assert context.accepted_correlation_id(None) != context.accepted_correlation_id(None)
