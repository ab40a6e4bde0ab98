"""`python -m eventstore`: each command, and what it says."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eventstore.command_line import main
from eventstore.command_line.progress import Bar
from eventstore.following import OWN, Applier, FollowerStopped, Page, WhenFailing
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.projections import Progress, prepare_projection
from tests.eventstore.following.effects import QUICK
from tests.eventstore.projections.views import NAME, PROJECTION, Poisonous, seen
from tests.eventstore.samples import events, stream_of_shard

ROOT = Path(__file__).parents[3]
STREAM = stream_of_shard(7)
CODE = "tests.eventstore.projections.views:PROJECTION"

Call = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def call(database: str, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command; its exit code, what it said, and what it complained of."""

    async def run(*arguments: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(main, ["--dsn", database, *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


async def parked(pool: Pool, store: PostgresEventStore) -> None:
    """A projection whose stream is parked at its second event of three."""
    async with pool.acquire() as connection:
        await prepare_projection(connection, PROJECTION)
    await store.append(STREAM, events(3), expected=0)
    await apply(pool, store, Poisonous({(STREAM, 2)}))


async def apply(pool: Pool, store: PostgresEventStore, handler: Poisonous, *, stop: bool = False) -> None:
    async def handle(connection: object, given: object) -> None:
        await handler(connection, NAME, given)  # type: ignore[arg-type]  # handed on

    policy = replace(QUICK, when_failing=WhenFailing.STOP if stop else WhenFailing.PARK)
    applier = Applier(pool, NAME, OWN, handle, policy=policy)
    at = (await applier.positions([7]))[7].position
    await applier.apply([Page.of_shard(await store.read_shard(7, after=at), after=at)])
    await applier.retry_parked()


async def test_empty(views: Pool, call: Call) -> None:
    assert await views.fetchval("SELECT true")
    assert await call("positions") == (0, "No follower has a position here.\n", "")
    assert await call("parked", "list") == (0, "Nothing is parked.\n", "")
    assert await call("stopped", "list") == (0, "No follower stands still.\n", "")
    assert await call("projection", "list") == (0, "There is no projection here.\n", "")
    assert await call("--json", "positions") == (0, "", "")


async def test_parked_is_listed_retried_and_skipped(
    views: Pool, postgres_store: PostgresEventStore, call: Call
) -> None:
    await parked(views, postgres_store)
    code, said, _ = await call("parked", "list")
    assert code == 0
    assert said.splitlines()[0].split()[:4] == ["follower", "source", "stream", "shard"]
    assert f"ValueError: {STREAM} at 2" in said
    _, said, _ = await call("--json", "parked", "list", "--follower", NAME, "--source", OWN)
    (row,) = map(json.loads, said.splitlines())
    assert (row["stream"], row["events"], row["failed_position"]) == (STREAM, 2, 2)
    assert (await call("parked", "list", "--follower", "x"))[1] == "Nothing is parked.\n"

    assert (await call("parked", "retry", NAME, "--stream", "x"))[0] == 1
    assert (await call("parked", "retry", NAME, "--all")) == (
        0,
        "Asked for 1 streams; the running follower tries them within seconds.\n",
        "",
    )
    await apply(views, postgres_store, Poisonous({(STREAM, 2)}))
    skip = ("parked", "skip", NAME, "--stream", STREAM, "--by", "staff:7", "--why", "a defect")
    assert await call(*skip) == (0, f"Skipped {STREAM} at 2 (Opened).\n", "")
    await apply(views, postgres_store, Poisonous())
    assert await seen(views) == {STREAM: [1, 3]}
    code, _, complaint = await call(*skip)
    assert (code, complaint) == (1, f"{NAME} of {OWN} has not parked {STREAM}\n")
    assert await views.fetchval("SELECT skipped_by || ' ' || why FROM eventstore.skipped_events") == (
        "staff:7 a defect"
    )


async def test_stopped_is_listed_skipped_and_resumed(
    views: Pool, postgres_store: PostgresEventStore, call: Call
) -> None:
    async with views.acquire() as connection:
        await prepare_projection(connection, PROJECTION)
    await postgres_store.append(STREAM, events(4), expected=0)
    for position in (2, 3):
        with pytest.raises(FollowerStopped):
            await apply(views, postgres_store, Poisonous({(STREAM, position)}), stop=True)
        code, said, _ = await call("stopped", "list")
        assert code == 0
        assert f"ValueError: {STREAM} at {position}" in said
        if position == 2:
            skip = ("stopped", "skip", NAME, "--shard", "7", "--by", "staff:7", "--why", "a defect")
            assert (await call(*skip))[:2] == (0, f"Skipped {STREAM} at 2; {NAME} goes on.\n")
            assert (await call(*skip))[0] == 1
    assert (await call("stopped", "resume", NAME, "--shard", "8"))[0] == 1
    assert (await call("stopped", "resume", NAME))[:2] == (0, f"{NAME} of {OWN} goes on (1 stops).\n")
    with pytest.raises(FollowerStopped):
        await apply(views, postgres_store, Poisonous({(STREAM, 3)}), stop=True)
    assert (await call("projection", "resume", NAME))[:2] == (0, f"{NAME} goes on.\n")
    assert (await call("projection", "resume", NAME))[0] == 1
    await apply(views, postgres_store, Poisonous())
    assert await seen(views) == {STREAM: [1, 3, 4]}


async def test_positions_and_lag(views: Pool, postgres_store: PostgresEventStore, call: Call) -> None:
    await parked(views, postgres_store)
    await postgres_store.append("table-1", events(2), expected=0)
    _, said, _ = await call("--json", "positions", "--follower", NAME)
    (row,) = map(json.loads, said.splitlines())
    assert (row["shard"], row["position"], row["lag"], row["parked"]) == (7, 3, 0, 1)
    _, said, _ = await call("--json", "projection", "list")
    (row,) = map(json.loads, said.splitlines())
    assert (row["name"], row["version"], row["lag"], row["parked_events"]) == (NAME, 1, 2, 2)


async def test_rebuild(views: Pool, postgres_store: PostgresEventStore, call: Call) -> None:
    await postgres_store.append(STREAM, events(30), expected=0)
    code, said, progress = await call("--json", "projection", "rebuild", CODE)
    assert (code, json.loads(said)) == (0, {"events": 30, "parked": 0, "old_dropped": True})
    assert progress.splitlines()[-1] == f"rebuilding {NAME}: 100.0%, 30 of 30 events"
    assert await seen(views) == {STREAM: list(range(1, 31))}
    code, _, complaint = await call("projection", "rebuild", CODE, "--continue")
    assert (code, "there are none" in complaint) == (1, True)


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("nowhere.at_all:X", "There is no projection at 'nowhere.at_all:X': No module"),
        ("tests.eventstore.samples:X", "There is no projection at"),
        ("tests.eventstore.samples", "There is no projection at"),
        (":X", "There is no projection at"),
        ("tests.eventstore.samples:KEY_A", "is no projection, but bytes"),
    ],
)
async def test_code_that_is_no_projection(call: Call, place: str, complaint: str) -> None:
    code, _, said = await call("projection", "rebuild", place)
    assert code == 1
    assert complaint in said


def test_no_address(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("UPCARD_DSN", raising=False)
    assert main(["positions"]) == 2
    assert capsys.readouterr().err == "Which database? Give --dsn, or set UPCARD_DSN.\n"


def test_an_address_where_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dsn", "postgresql://me:secret@127.0.0.1:1/x", "positions"]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("The database: ")
    assert "secret" not in complaint


async def test_as_a_program_of_its_own(database: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "eventstore",
        "parked",
        "list",
        cwd=ROOT,
        env={"UPCARD_DSN": database},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert (process.returncode, said) == (0, b"Nothing is parked.\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal() -> None:
    out = Terminal()
    now = [0.0]
    with Bar(out, "rebuilding x", clock=lambda: now[0]) as bar:
        for done in (0, 10, 20):  # of which the second comes too soon
            bar.show(Progress(done, 20))
            now[0] += 0.06
    shown = out.getvalue().split("\r")[1:]
    assert [one.partition("]")[0] for one in shown] == ["[" + "." * 30, *["[" + "#" * 30] * 2]
    assert shown[0] == f"[{'.' * 30}] rebuilding x:   0.0%, 0 of 20 events\x1b[K"
    assert shown[-1].endswith("\n")


def test_lines_elsewhere_and_an_empty_log() -> None:
    out = io.StringIO()
    now = [0.0]
    with Bar(out, "rebuilding x", clock=lambda: now[0]) as bar:
        for _ in range(5):
            bar.show(Progress(0, 0))
            now[0] += 4.0
    assert out.getvalue() == "rebuilding x: 100.0%, 0 of 0 events\n" * 3
