"""What a line of the log says, whoever wrote it."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import json
import logging
import os
import sys
import threading
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from servicekit import context
from servicekit.logging import MASK, LineLimits, LineWriter, Logging, Redactor, Renderer, configure_logging
from servicekit.logging.figures import FIGURES
from servicekit.tracing import configure_tracing, span, trace_id_of


class Written:
    """Lines that were written, parsed."""

    def __init__(self) -> None:
        self.data = b""
        self.logging: Logging

    def __call__(self, data: bytes) -> None:
        self.data += data

    @property
    def lines(self) -> list[dict[str, Any]]:
        assert self.logging.flush(10)
        return [json.loads(line) for line in self.data.splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        (line,) = self.lines
        return line


@pytest.fixture
def written() -> Iterator[Written]:
    sink = Written()
    sink.logging = configure_logging(service="table", instance="t-1", level="debug", sink=sink)
    try:
        yield sink
    finally:
        sink.logging.close()


def test_a_line_says_who_when_and_what_for(written: Written) -> None:
    with context.bind(correlation_id="c-1", causation_id="e-1", actor="player:p1"):
        structlog.get_logger("table.bets").info("bet placed", amount=100, box=2)
    line = written.line
    at = dt.datetime.fromisoformat(line.pop("time"))
    assert abs((dt.datetime.now(dt.UTC) - at).total_seconds()) < 60
    assert line == {
        "level": "info",
        "event": "bet placed",
        "logger": "table.bets",
        "service": "table",
        "instance": "t-1",
        "correlation_id": "c-1",
        "causation_id": "e-1",
        "actor": "player:p1",
        "amount": 100,
        "box": 2,
    }


def test_a_line_within_a_trace_names_it(written: Written) -> None:
    tracing = configure_tracing(service="table", instance="t-1", sample_ratio=1.0)
    try:
        with context.bind(correlation_id="c-1"), span("work"):
            structlog.get_logger().info("within")
    finally:
        tracing.close()
    assert written.line["trace_id"] == f"{trace_id_of('c-1'):032x}"
    assert len(written.line["span_id"]) == 16


def test_the_standard_library_comes_out_alike(written: Written) -> None:
    with context.bind(correlation_id="c-1"):
        logging.getLogger("aiokafka.conn").warning("node %s is %s", 1, "gone", extra={"node": 1})
    line = written.line
    assert (line["level"], line["event"], line["logger"]) == ("warning", "node 1 is gone", "aiokafka.conn")
    assert (line["correlation_id"], line["node"]) == ("c-1", 1)


def test_arguments_that_do_not_fit_lose_nothing(written: Written) -> None:
    # Straight to our handler: pytest's own would raise.
    record = logging.LogRecord("careless", logging.ERROR, "", 0, "got %d", ("no number",), None)
    logging.getLogger().handlers[0].handle(record)
    assert written.line["event"] == "got %d"


def test_warnings_are_lines(written: Written) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)  # pytest puts its own hook in between
        warnings.warn("old ways", DeprecationWarning, stacklevel=1)
    assert "DeprecationWarning: old ways" in written.line["event"]
    assert written.line["logger"] == "py.warnings"


def test_an_exception_is_in_its_line(written: Written) -> None:
    try:
        int("not so")
    except ValueError:
        structlog.get_logger().exception("it failed")
        logging.getLogger("x").exception("it failed")
    structlog.get_logger().error("it failed", exc_info=ValueError("not so"))
    for line in written.lines:
        assert line["level"] == "error"
        assert line["exception"]["type"] == "builtins.ValueError"
        assert "not so" in line["exception"]["trace"]


def test_what_nobody_catches_is_a_line(written: Written) -> None:
    def fail() -> None:
        raise RuntimeError("in a thread")

    thread = threading.Thread(target=fail, name="worker")
    thread.start()
    thread.join()
    error = RuntimeError("at last")
    sys.excepthook(RuntimeError, error, None)
    in_thread, at_last = written.lines
    assert (in_thread["level"], in_thread["thread"]) == ("critical", "worker")
    assert "RuntimeError: at last" in at_last["exception"]["trace"]


def test_below_the_level_nothing_is_said(written: Written) -> None:
    written.logging.close()
    sink = Written()
    sink.logging = configure_logging(service="s", instance="i", level="warning", sink=sink)
    try:
        structlog.get_logger().info("no")
        logging.getLogger("x").info("no")
        structlog.get_logger().warning("yes")
        assert [line["event"] for line in sink.lines] == ["yes"]
    finally:
        sink.logging.close()


def test_debugging_is_about_our_own_code(written: Written) -> None:
    structlog.get_logger().debug("ours")
    logging.getLogger("asyncio").debug("a library's")
    assert [line["event"] for line in written.lines] == ["ours"]


class Suit(enum.Enum):
    CLUBS = 1


class Slug(enum.StrEnum):
    LATE = "late_bet"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (2**53 - 1, 2**53 - 1),
        (2**53, str(2**53)),
        (-(2**70), str(-(2**70))),
        (b"\x00\x01", "<2 bytes>"),
        (Suit.CLUBS, "CLUBS"),
        (Slug.LATE, "late_bet"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (dt.datetime(2026, 11, 30, tzinfo=dt.UTC), "2026-11-30T00:00:00+00:00"),
        (dt.timedelta(seconds=1), "0:00:01"),
        ([1, {"a": (2,)}], [1, {"a": [2]}]),
        ({1: "x"}, {"1": "x"}),
        ([[[[[1, 2, 3]]]]], [[[["<list of 3>"]]]]),
        (Broken(), "<Broken that cannot be shown: RuntimeError>"),
        (ValueError("words"), "words"),
        ("\ud800", "\\ud800"),
    ],
)
def test_values(written: Written, value: object, shown: object) -> None:
    structlog.get_logger().info("x", value=value)
    assert written.line["value"] == shown


def test_fields_never_hide_what_is_ours(written: Written) -> None:
    structlog.get_logger().info("x", time="later", service="other", exception="none", logger="me")
    line = written.line
    assert (line["service"], line["service_"], line["time_"], line["logger_"]) == (
        "table",
        "other",
        "later",
        "me",
    )


def test_names_of_secrets_mask_their_values(written: Written) -> None:
    written.logging.redactor.add("hunter22")
    fields = {"password": "x", "nested": {"token": "y", "fencing_token": 7}, "other": "=hunter22="}
    structlog.get_logger().info("hunter22", **fields)
    line = written.line
    assert (line["event"], line["password"], line["other"]) == (MASK, MASK, f"={MASK}=")
    assert line["nested"] == {"token": MASK, "fencing_token": 7}  # a number is no secret


def test_a_secret_is_no_name_either(written: Written) -> None:
    written.logging.redactor.add("hunter22")
    structlog.get_logger().info("x", hunter22=1, nested={"hunter22": 2, b"hunter22": 3, "\ud800": 4})
    line = written.line
    assert line[MASK] == 1
    assert line["nested"] == {MASK: 2, "<8 bytes>": 3, "\\ud800": 4}


@given(
    event=st.text(max_size=3_000),
    fields=st.dictionaries(
        st.text(max_size=20),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        ),
        max_size=60,
    ),
)
def test_whatever_is_logged_is_one_bounded_line_of_json(event: str, fields: dict[str, Any]) -> None:
    limits = LineLimits(line_bytes=2_000, text_characters=300)
    line = Renderer(Redactor(), service="s", instance="i", limits=limits).line("info", event, "x", fields)
    assert len(line) <= limits.line_bytes
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["service"] == "s"


def test_a_secret_at_the_cut_is_not_shown_by_half() -> None:
    redactor = Redactor()
    word = "abcdefghijklmnopqrstuvwxyzabcdefghuvwxyz"
    redactor.add(word)
    limits = LineLimits(text_characters=50)
    renderer = Renderer(redactor, service="s", instance="i", limits=limits)
    for place in range(260):
        line = renderer.line("info", "." * place + word + "." * 300, "x", {})
        assert b"abcd" not in line
        assert b"wxyz" not in line
        # Here what is masked makes so much room that the end of what was looked at is shown.
        assert b"abcd" not in renderer.line("info", "." * place + word * 50, "x", {})


def test_a_reader_that_stalls_stalls_nobody() -> None:
    stall, begun = threading.Event(), threading.Event()
    taken: list[bytes] = []

    def sink(data: bytes) -> None:
        begun.set()
        stall.wait(60)
        taken.append(data)

    writer = LineWriter(sink, most_lines=10)
    writer.write(b"first\n")
    assert begun.wait(60)
    for number in range(50):
        writer.write(b"%d\n" % number)
    assert writer.dropped == 40
    assert not writer.flush(0.01)
    stall.set()
    assert writer.close(60)
    assert b"".join(taken).splitlines() == [b"first", *(b"%d" % number for number in range(10))]


def test_what_waits_is_bounded_in_bytes_too() -> None:
    stall, begun = threading.Event(), threading.Event()

    def sink(_: bytes) -> None:
        begun.set()
        stall.wait(60)

    writer = LineWriter(sink, most_bytes=100)
    writer.write(b"first\n")
    assert begun.wait(60)
    for _ in range(10):
        writer.write(b"x" * 29 + b"\n")
    assert writer.dropped == 7
    stall.set()
    assert writer.close(60)


def test_a_reader_that_is_gone_is_survived() -> None:
    reading, writing = os.pipe()
    os.close(reading)

    def sink(data: bytes) -> None:
        os.write(writing, data)

    writer = LineWriter(sink)
    writer.write(b"x\n")
    assert writer.close(60)
    assert writer.dropped == 1
    os.close(writing)
    writer.write(b"after the end\n")
    assert writer.dropped == 2


def test_a_finaliser_may_log_at_any_moment(written: Written) -> None:
    # As if a garbage collection came while a line is counted, and while one is queued.
    def log_within() -> None:
        with FIGURES._lock, written.logging.writer._state:
            structlog.get_logger().info("from a finaliser")

    thread = threading.Thread(target=log_within, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert written.line["event"] == "from a finaliser"


def test_lines_are_counted(written: Written) -> None:
    def counts() -> dict[str, float]:
        return {
            sample.labels.get("level", "dropped"): sample.value
            for family in FIGURES.collect()
            for sample in family.samples
        }

    before = counts()
    structlog.get_logger().info("x")
    structlog.get_logger().warning("x")
    written.logging.writer.close()
    structlog.get_logger().warning("too late")
    after = counts()
    assert after["info"] - before.get("info", 0) == 1
    assert after["warning"] - before.get("warning", 0) == 2
    assert after["dropped"] - before["dropped"] == 1


async def test_lines_of_many_tasks_and_threads_are_whole(written: Written) -> None:
    log = structlog.get_logger()

    async def say(name: int) -> None:
        for number in range(50):
            log.info("x", name=name, number=number)
            await asyncio.sleep(0)

    await asyncio.gather(
        *(say(name) for name in range(5)), *(asyncio.to_thread(asyncio.run, say(9)) for _ in "a")
    )
    said = [(line["name"], line["number"]) for line in written.lines]
    assert len(said) == 300
    for name in (0, 9):
        assert [number for who, number in said if who == name] == list(range(50))
