"""The command line as a program: its process, its streams, and the same bytes everywhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.rules_core.commands import EXAMPLE, PROGRAM, call, run

CASE = json.dumps(json.loads(Path(EXAMPLE).read_bytes())).encode()
PLAY = ("play", "--ruleset", "dark-boxes@1", "--seed", "11")


@pytest.mark.parametrize(
    "arguments",
    [
        ("settle", EXAMPLE),
        ("explain", EXAMPLE),
        ("evaluate", "Ah Ad Kc 7s 3d"),
        ("rulesets",),
        ("settle", "x"),
        (),
    ],
)
def test_the_program_does_what_the_command_does(arguments: tuple[str, ...]) -> None:
    done, called = run(*arguments), call(*arguments)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (called.status, called.text, b"")


def test_a_seed_gives_the_same_bytes_in_every_process() -> None:
    rounds = {run(*PLAY, environment={"PYTHONHASHSEED": seed}).stdout for seed in ("0", "1", "4711")}
    assert rounds == {call(*PLAY).text.encode()}


def test_text_is_utf8_whatever_the_machine_speaks() -> None:
    done = run(
        "explain", EXAMPLE, environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stdout.decode()) == (0, call("explain", EXAMPLE).text)


def test_lines_are_answered_while_the_input_is_still_open() -> None:
    with subprocess.Popen(
        [*PROGRAM, "settle", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for _ in range(2):
            program.stdin.write(CASE + b"\n")
            program.stdin.flush()
            assert json.loads(program.stdout.readline())["boxes"][0]["net"] == 690
        rest, complaint = program.communicate()
    assert (program.returncode, rest, complaint) == (0, b"", b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_ends_the_program_quietly(unbuffered: str) -> None:
    with subprocess.Popen(
        [*PROGRAM, "settle", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write(CASE + b"\n")
        program.stdin.flush()
        program.stdout.readline()
        program.stdout.close()
        program.stdin.write(CASE + b"\n")
        program.stdin.flush()
        assert (program.wait(60), program.stderr.read()) == (141, b"")
        program.stdin.close()


def test_an_interrupt_ends_the_program_quietly() -> None:
    with subprocess.Popen(
        [*PROGRAM, "settle", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(CASE + b"\n")
        program.stdin.flush()
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        rest, complaint = program.communicate()
    assert (program.returncode, rest, complaint) == (130, b"", b"")


def shell(command: str) -> subprocess.CompletedProcess[Any]:
    """The program in a shell line; `$program` stands for it."""
    line = command.replace("$program", " ".join(f"'{part}'" for part in PROGRAM))
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize("streams", ["<&-", "2>&-", "<&- 2>&-"])
def test_streams_that_are_not_needed_may_be_closed(streams: str) -> None:
    hand = "Ah Ad Kc 7s 3d"
    done = shell(f"$program evaluate '{hand}' {streams}")
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, call("evaluate", hand).text, b"")


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "no-such-command",
        "evaluate 'Ah Ad Kc 7s 3d'",
        "rulesets",
        "demo",
        *("settle case.json", "settle --jsonl", "explain case.json", "verify round.json"),
        "play --ruleset classic@1 --seed 1",
    ],
)
@pytest.mark.parametrize("streams", [">&-", "<&- >&-"])
def test_a_closed_standard_output_is_told_and_nothing_is_done(command: str, streams: str) -> None:
    done = shell(f"$program {command} {streams}")
    assert (done.returncode, done.stderr) == (2, b"standard output cannot be written: it is closed\n")


def test_where_nobody_can_be_told_the_status_still_says_so() -> None:
    done = shell("$program rulesets >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_no_standard_input_is_an_error_object() -> None:
    done = shell("$program settle - <&-")
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "file_unreadable")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told_and_no_traceback() -> None:
    done = shell("$program rulesets > /dev/full")
    assert (done.returncode, done.stderr) == (
        2,
        b"standard output cannot be written: No space left on device\n",
    )
