"""The public names of the package itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rules_core
from rules_core.cards import parse_cards
from rules_core.rulesets.model import Ruleset


@pytest.mark.parametrize("name", rules_core.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rules_core, name) is not None


def test_public_names_are_the_ones_of_their_modules() -> None:
    assert rules_core.parse_cards is parse_cards
    assert rules_core.Ruleset is Ruleset
    assert rules_core.settle.__module__ == "rules_core.settlement.settle"
    assert rules_core.shipped.__module__ == "rules_core.rulesets.shipped"
    assert rules_core.Case.__module__ == rules_core.CaseError.__module__ == "rules_core.settlement.model"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rules_core' has no attribute 'nonsense'"):
        _ = rules_core.nonsense


def test_the_package_alone_imports_nothing_of_itself() -> None:
    script = "import sys, rules_core; print([name for name in sys.modules if name.startswith('rules_core.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
