"""What the README shows is what happens: its commands and its code are run."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house_rules.files import ROOT, text_of

README = Path("README.md")
ANYTHING = "..."


class Shown(NamedTuple):
    """A command as the README shows it, and what it says that the command prints."""

    command: str
    output: str


def blocks(kind: str) -> list[str]:
    """The fenced blocks of a kind, without the indentation of a list."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```", text_of(README), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def shown_commands() -> list[Shown]:
    """Every command of the README's consoles, in order."""
    parts = [part for block in blocks("console") for part in block.split("$ ")[1:]]
    return [Shown(*part.split("\n", 1)) for part in parts]


def agrees(shown: str, printed: str) -> bool:
    """Whether the output is as shown: as JSON, else as text, where a line of three dots is anything."""
    with contextlib.suppress(json.JSONDecodeError):
        return bool(json.loads(shown) == json.loads(printed))
    pattern = ".*".join(re.escape(piece) for piece in f"\n{shown}".split(f"\n{ANYTHING}\n"))
    return re.fullmatch(pattern, f"\n{printed}", re.DOTALL) is not None


def test_the_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    assert len(shown_commands()) >= 5
    for command, output in shown_commands():
        program = command.replace(".venv/bin/python", f"'{sys.executable}'")
        done = subprocess.run(
            ["/bin/sh", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (command, done.returncode, done.stderr) == (command, 0, "")
        assert agrees(output, done.stdout), f"{command} printed:\n{done.stdout}"


def test_the_code_prints_what_its_comments_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = blocks("python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - our own README
    assert printed.getvalue() == "".join(f"{shown}\n" for shown in re.findall(r"print\(.*\)  # (.*)", code))


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a\n", "a\n"),
        ("...\n", "a\nb\n"),
        ("a\n...\nz\n", "a\nb\nc\nz\n"),
        ('{"a": 1, "b": 2}\n', '{"b":2,"a":1}\n'),
        ("", ""),
    ],
)
def test_output_as_shown_agrees(shown: str, printed: str) -> None:
    assert agrees(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("a\n", "b\n"), ("a\n...\nz\n", "b\nz\n"), ('{"a": 1}\n', '{"a": 2}\n'), ("", "a\n")],
)
def test_other_output_does_not(shown: str, printed: str) -> None:
    assert not agrees(shown, printed)
