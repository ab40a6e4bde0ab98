"""The life of a service, seen from outside: signals, order, exit statuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from servicekit.lifecycle import ExitCode
from tests.servicekit.programs import ROOT, clean_environment, service

THREE = [{"name": "one"}, {"name": "two", "work": "until asked"}, {"name": "three"}]
QUICK = {"UPCARD_STOP_DEADLINE_S": "0.5"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stages_start_in_order_and_stop_in_reverse(number: signal.Signals) -> None:
    with service({"stages": THREE}) as program:
        program.until("running")
        assert program.until_ready(ready=True) == {"ready": True, "phase": "running", "checks": {}}
        program.signal(number)
        assert program.code() == ExitCode.STOPPED
        assert program.stages("started") == ["one", "two", "three"]
        assert program.stages("stopped") == ["three", "two", "one"]
        assert program.lines("stopping", why=number.name)
        assert program.lines()[-1]["event"] == "ended"
        assert program.lines(logger="py.warnings") == []
        assert program.errors == ""


@pytest.mark.parametrize("start", ["hang", "slow", "turn", "turn down"])
def test_a_signal_during_the_start_stops_what_was_started(start: str) -> None:
    stages = [{"name": "one"}, {"name": "two", "start": start}, {"name": "three"}]
    with service({"stages": stages}) as program:
        program.until("now", doing=start)
        program.signal()
        assert program.code() == ExitCode.STOPPED
        assert program.stages("started") == ["one"]
        assert program.stages("stopped") == ["one"]


def test_a_start_that_fails_stops_what_was_started() -> None:
    stages = [{"name": "one"}, {"name": "two", "start": "fail"}]
    with service({"stages": stages}) as program:
        assert program.code() == ExitCode.FAILED
        (line,) = program.lines("the start failed")
        assert "RuntimeError: two failed" in line["exception"]["trace"]
        assert program.stages("stopped") == ["one"]


@pytest.mark.parametrize(
    ("start", "code", "event"),
    [
        ("refuse", ExitCode.NOT_STARTED, "the service cannot start"),
        ("timeout", ExitCode.FAILED, "the start failed"),
        ("cancelled", ExitCode.FAILED, "the start failed"),
        ("exit", ExitCode.FAILED, "the start failed"),
    ],
)
def test_however_a_start_ends_what_was_started_is_stopped(start: str, code: int, event: str) -> None:
    with service({"stages": [{"name": "one"}, {"name": "two", "start": start}]}) as program:
        assert program.code() == code
        assert program.lines(event)
        assert program.stages("stopped") == ["one"]


def test_a_stage_that_takes_too_long_to_start_refuses_the_start() -> None:
    stages = [{"name": "one"}, {"name": "two", "start": "hang", "start_within_s": 0.1}]
    with service({"stages": stages}) as program:
        assert program.code() == ExitCode.NOT_STARTED
        (line,) = program.lines("the service cannot start")
        assert line["why"] == "two did not start within 0.1 s"
        assert program.stages("stopped") == ["one"]


def test_a_start_has_a_deadline_as_a_whole() -> None:
    stages = [{"name": "one"}, {"name": "two", "start": "hang"}]
    with service({"stages": stages}, UPCARD_START_DEADLINE_S="0.2") as program:
        assert program.code() == ExitCode.NOT_STARTED
        assert program.lines("the service did not start in time", within_s=0.2)
        assert program.stages("stopped") == ["one"]


@pytest.mark.parametrize("work", ["fail", "ok"])
def test_work_that_ends_by_itself_stops_the_service(work: str) -> None:
    with service({"stages": [{"name": "one"}, {"name": "two", "work": work}, {"name": "three"}]}) as program:
        assert program.code() == ExitCode.FAILED
        (line,) = program.lines("the service has to stop")
        assert {"fail": "two failed", "ok": "two has ended"}[work] in line["exception"]["trace"]
        assert program.stages("stopped") == list(reversed(program.stages("started")))


def test_work_that_fails_breaks_a_start_off() -> None:
    stages = [{"name": "one", "work": "fail"}, {"name": "two", "start": "hang"}]
    with service({"stages": stages}) as program:
        assert program.code() == ExitCode.FAILED
        assert program.stages("stopped") == ["one"]


def test_work_that_does_not_end_when_asked_is_cancelled() -> None:
    with service({"stages": [{"name": "one", "work": "hang", "stop_within_s": 0.1}]}) as program:
        program.until("running")
        program.signal()
        assert program.code() == ExitCode.STOPPED_BADLY
        assert program.lines("a stage did not stop in time", stage="one")


@pytest.mark.parametrize(
    ("stop", "event"),
    [
        ("fail", "a stage failed at stopping"),
        ("cancelled", "a stage failed at stopping"),
        ("hang", "a stage did not stop in time"),
    ],
)
def test_a_stage_that_does_not_stop_keeps_nobody(stop: str, event: str) -> None:
    stages = [{"name": "one"}, {"name": "two", "stop": stop, "stop_within_s": 0.2}, {"name": "three"}]
    with service({"stages": stages}) as program:
        program.until("running")
        program.signal()
        assert program.code() == ExitCode.STOPPED_BADLY
        assert program.lines(event, stage="two")
        assert program.stages("stopped") == ["three", "one"]


@pytest.mark.parametrize("stop", ["swallow", "block"])
def test_a_stop_that_hangs_is_ended_all_the_same(stop: str) -> None:
    with service({"stages": [{"name": "one"}, {"name": "two", "stop": stop}]}, **QUICK) as program:
        program.until("running")
        program.signal()
        assert program.code() == ExitCode.STOPPED_BADLY
        assert program.lines("ended by force", why="it hangs; standard error has where")
        assert "watchdog.py" in program.errors


@pytest.mark.parametrize(
    "stages",
    [
        [{"name": "one", "work": "block"}],
        [{"name": "one", "start": "swallow"}],
        [{"name": "one", "start": "block"}],
    ],
)
def test_a_signal_that_nobody_hears_ends_it_all_the_same(stages: list[dict[str, str]]) -> None:
    with service({"stages": stages}, **QUICK) as program:
        program.until("now", stage="one")
        program.signal()
        assert program.code() in {ExitCode.STOPPED_BADLY, ExitCode.NOT_STARTED}
        assert program.lines("ended by force")


def test_a_stop_that_nobody_asked_for_and_that_hangs_is_ended_too() -> None:
    stages = [{"name": "one", "stop": "swallow"}, {"name": "two", "work": "fail"}]
    with service({"stages": stages}, **QUICK) as program:
        assert program.code() == ExitCode.STOPPED_BADLY
        assert program.lines("ended by force")


@pytest.mark.parametrize(
    ("phase", "plan"),
    [
        ("start", {"stages": [{"name": "one", "start": "swallow"}]}),
        ("start", {"stages": [{"name": "one", "start": "block"}]}),
        ("stop", {"stages": [{"name": "one", "stop": "hang"}]}),
        ("stop", {"stages": [{"name": "one", "stop": "block"}]}),
    ],
)
def test_a_second_signal_ends_it_at_once(phase: str, plan: dict[str, Any]) -> None:
    doing = plan["stages"][0][phase]
    with service(plan) as program:
        if phase == "stop":
            program.until("running")
            program.signal()
        program.until("now", doing=doing)
        again = 0
        while program.process.poll() is None:  # those in one breath count as one
            program.signal(signal.SIGINT if again else signal.SIGTERM)
            again += 1
            with_deadline(program)
        assert program.code() in {128 + signal.SIGTERM, 128 + signal.SIGINT}
        assert program.lines("ended by force", why="a second signal")


def with_deadline(program: Any) -> None:
    """Give it a moment to end."""
    try:
        program.process.wait(0.1)
    except subprocess.TimeoutExpired:
        return


def test_before_it_stops_it_is_not_ready_for_a_while() -> None:
    with service({"stages": [{"name": "one"}]}, UPCARD_STOP_DELAY_S="60") as program:
        program.until("running")
        program.signal()
        program.until("stopping", delay_s=60.0)
        status, body = program.ask("/health/ready")
        assert (status, json.loads(body)["phase"]) == (503, "stopping")
        assert program.ask("/health/live")[0] == 200
        assert program.lines("stopped") == []


@pytest.mark.parametrize(("how", "code"), [("ask_to_stop", ExitCode.STOPPED), ("fail", ExitCode.FAILED)])
def test_a_service_may_stop_itself_while_it_starts(how: str, code: int) -> None:
    with service({"stages": [{"name": "one"}], "itself": how}) as program:
        assert program.code() == code
        assert program.lines("stopping", why="itself" if code == 0 else "failure")
        assert program.stages("stopped") == ["one"]


def test_others_are_told_of_the_stop_before_anything_stops() -> None:
    with service({"stages": [{"name": "one"}], "when_stopping": ["fail", "hang", "ok"]}) as program:
        program.until("running")
        program.signal()
        assert program.code() == ExitCode.STOPPED
        said = [line["doing"] for line in program.lines("now") if line["stage"] in {"announcing", "one"}]
        assert said == ["ok", "fail", "hang", "ok", "ok"]  # the first and last are the stage's start and stop
        assert len(program.lines("telling others of the stop failed")) == 2


def test_while_it_starts_it_is_live_and_not_ready() -> None:
    with service({"stages": [{"name": "one", "start": "hang"}]}) as program:
        program.until("now", doing="hang")
        status, body = program.ask("/health/ready")
        assert (status, json.loads(body)["phase"]) == (503, "starting")
        assert program.ask("/health/live")[0] == 200


def test_an_event_loop_that_stands_still_is_not_live() -> None:
    stages = [{"name": "one", "work": "block"}]
    with service({"stages": stages}, UPCARD_LOOP_STALL_S="0.5") as program:
        program.until("now", doing="block")
        while program.ask("/health/live")[0] == 200:
            assert program.process.poll() is None
        status, body = program.ask("/health/live")
        assert (status, json.loads(body)["live"]) == (503, False)
        assert program.ask("/metrics")[0] == 200
        status, body = program.ask("/health/ready")
        assert (status, json.loads(body)["phase"]) == (503, "stalled")


def test_a_taken_port_is_one_sentence() -> None:
    with service({}) as first:
        port = str(first.until("starting")["metrics_port"])
        with service({}, UPCARD_METRICS_PORT=port) as second:
            assert second.code() == ExitCode.NOT_STARTED
            (line,) = second.lines("the service cannot start")
            assert f"127.0.0.1:{port}" in line["why"]


def test_a_closed_standard_output_does_not_send_the_log_into_a_connection() -> None:
    # The first file that a program opens gets the lowest free number: 1, where the log goes.
    code = (
        "import os, sys\n"
        "from servicekit.lifecycle import run_service\n"
        "from servicekit.settings import ServiceSettings\n"
        "async def main(service):\n"
        "    reading, writing = os.pipe()\n"
        "    os.set_blocking(reading, False)\n"
        "    assert min(reading, writing) > 2, (reading, writing)\n"
        "    service.ask_to_stop()\n"
        "run_service(main, ServiceSettings, name='closed', version='0')\n"
    )
    ended = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", code],
        cwd=ROOT,
        env=clean_environment(),
        timeout=60,
        check=False,
    )
    assert ended.returncode == ExitCode.STOPPED


def test_a_signal_before_everything_is_not_lost() -> None:
    # Between the first line of the program and the event loop: the settings' own class sends it.
    code = (
        "import os, signal\n"
        "from servicekit.lifecycle import run_service\n"
        "from servicekit.settings import ServiceSettings\n"
        "class Early(ServiceSettings):\n"
        "    def model_post_init(self, _):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "async def main(service):\n"
        "    await service.start('one', None)\n"
        "run_service(main, Early, name='early', version='0')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (ExitCode.STOPPED, "")
    assert '"why":"SIGTERM"' in ended.stdout
