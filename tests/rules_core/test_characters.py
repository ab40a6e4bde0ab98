"""Which characters show: one rule, the same on every version of Python."""

from __future__ import annotations

from hashlib import sha256

import pytest

from rules_core.characters import _HIDDEN, is_printable, printable
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset
from tests.rules_core.broken_cases import house

EVERY_CHARACTER = [chr(code) for code in range(0x110000)]
NEWER_THAN_SOME_PYTHONS = "\U0001fae8"  # a face of Unicode 15: Python 3.11 does not know it, 3.12 does
NOT_YET_ASSIGNED = "\u0378"
HIDDEN = [
    *("\x00", "\t", "\n", "\x1f", "\x7f", "\x80", "\x85", "\x9f"),
    *("\xa0", "\u2003", "\u202f", "\u3000"),
    *("\u2028", "\u2029"),
    *("\xad", "\u200b", "\u200d", "\u2060", "\ufeff"),
    *("\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"),
    *("\ufff9", "\U000e0041", "\ud800", "\udfff", "\ue000", "\U0010fffd"),
    *("\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"),
]


def test_verdict_on_every_character_is_the_same_on_each_python() -> None:
    verdicts = bytes(map(is_printable, EVERY_CHARACTER))
    assert sha256(verdicts).hexdigest() == "3f51258d1c91c36e653b5ad3fbfc3eca914af4a1c07fe35bae35eff4841fa3ed"


def test_ranges_stand_apart() -> None:
    ends = [end for ends in _HIDDEN for end in ends]
    assert ends == sorted(ends)
    assert all(last < first for last, first in zip(ends[1::2], ends[2::2], strict=False))


def test_whatever_this_python_can_print_is_printable() -> None:
    assert [letter for letter in EVERY_CHARACTER if letter.isprintable() and not is_printable(letter)] == []


@pytest.mark.parametrize("letter", HIDDEN, ids=ascii)
def test_what_does_not_show_is_found_and_escaped(letter: str) -> None:
    assert not is_printable(f"a{letter}b")
    assert printable(f"a{letter}b") == f"a\\u{ord(letter):04x}b"


def test_what_shows_is_left_alone() -> None:
    text = f"Café «Ночь» 夜 🂡 e\u0301 \ufffd{NEWER_THAN_SOME_PYTHONS}{NOT_YET_ASSIGNED}"
    assert is_printable(text)
    assert printable(text) == text


@pytest.mark.parametrize("letter", [NEWER_THAN_SOME_PYTHONS, NOT_YET_ASSIGNED], ids=ascii)
def test_a_ruleset_is_valid_on_each_python_or_on_none(letter: str) -> None:
    title = f"House {letter}"
    parsed = parse_ruleset(house(title=title))
    assert isinstance(parsed, Ruleset)
    assert parsed.title == title


@pytest.mark.parametrize("letter", HIDDEN, ids=ascii)
def test_a_title_shows_all_that_it_has(letter: str) -> None:
    for title in (letter, f"{letter}House", f"Ho{letter}use", f"House{letter}"):
        assert not isinstance(parse_ruleset(house(title=title)), Ruleset)
