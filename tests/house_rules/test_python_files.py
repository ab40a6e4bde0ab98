"""House rules that ruff, mypy and the import contracts do not know: all Python files."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.house_rules.files import python_files, text_of

LINES_MAX = 400
GENERATED = Path("libs/protos/src/upcard")
"""Made by `make protos`: nobody reads it."""
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "stuff", "base_utils"}

# An exception to a rule says why on its own line: in a few words, after a dash or in a second comment.
REASON = r"(?:\s*(?:#|--?|:)\s*|\s+)\w.{7,}"
EXCEPTIONS: dict[str, re.Pattern[str]] = {
    "noqa": re.compile(r"#\s*(?:ruff:\s*)?noqa:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*" + REASON),
    "type: ignore": re.compile(r"#\s*type:\s*ignore\[[a-z, -]+\]" + REASON),
    "mypy:": re.compile(r"#\s*mypy:\s*\S+" + REASON),
    "pragma: no": re.compile(r"#\s*pragma:\s*no\s+(?:cover|branch)" + REASON),
}


def unexplained(source: str) -> list[str]:
    """The comments of a source that switch a check off without a word why, as `line: comment`."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        for mark, explained in EXCEPTIONS.items():
            if mark in token.string and not explained.search(token.string):
                found.append(f"{token.start[0]}: {token.string}")
    return found


def test_no_file_is_longer_than_one_can_read() -> None:
    written = [path for path in python_files() if not path.is_relative_to(GENERATED)]
    too_long = {str(p): n for p in written if (n := len(text_of(p).splitlines())) > LINES_MAX}
    assert too_long == {}, f"over {LINES_MAX} lines: split by what the parts are about"


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [str(p) for p in python_files() if VAGUE_NAMES.intersection((*p.parts[:-1], p.stem))]
    assert vague == [], "name a module after what is in it"


def test_every_switched_off_check_says_why() -> None:
    found = [f"{path}:{line}" for path in python_files() for line in unexplained(text_of(path))]
    assert found == [], "say why on that line: `# noqa: PLR0911 - one return for each clause`"


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: S101",
        "# noqa: S101 - no",
        "# ruff: noqa",
        "# type: ignore",
        "# type: ignore[arg-type]",
        "# pragma: no cover",
        "# pragma: no branch",
        "# mypy: ignore-errors",
    ],
)
def test_a_switched_off_check_without_a_reason_is_found(comment: str) -> None:
    assert unexplained(f"x = 1  {comment}\n") == [f"1: {comment}"]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: S101 - an invariant of the fold, not input",
        "# noqa: PLR0911, C901 - one return for each clause of RULES.md 4.5",
        "# type: ignore[arg-type]  # the test hands in what the type forbids",
        "# pragma: no cover - every case is handled above; kept for a reader",
    ],
)
def test_a_switched_off_check_with_a_reason_passes(comment: str) -> None:
    assert unexplained(f"x = 1  {comment}\n") == []


def test_a_string_that_looks_like_a_comment_is_left_alone() -> None:
    assert unexplained('x = "# noqa"\n') == []


def test_the_files_of_this_repository_are_seen() -> None:
    assert Path("tests/house_rules/test_python_files.py") in python_files()
