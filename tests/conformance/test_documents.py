"""What is written about the kit is what it does."""

from __future__ import annotations

import re
from pathlib import Path

from tools.generate_conformance_docs import PAGE, page
from upcard_conformance import __main__ as kit
from upcard_conformance.reference import __main__ as reference

README = Path(__file__).resolve().parents[2] / "libs" / "conformance" / "README.md"


def test_the_tables_are_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `python -m tools.generate_conformance_docs`"


def test_every_option_that_is_named_is_one() -> None:
    known = set()
    for parser in (kit.arguments(), reference.arguments()):
        known |= {word for action in parser._actions for word in action.option_strings}
    for document in (PAGE, README):
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", document.read_text(encoding="utf-8")))
        assert named <= known, document
    assert known - set(re.findall(r"--[a-z-]+", PAGE.read_text(encoding="utf-8"))) == {
        "-h",
        "--help",
        "--host",
    }
