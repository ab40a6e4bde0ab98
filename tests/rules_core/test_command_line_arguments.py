"""Wrong arguments are an error object like any other, and help is at hand."""

from __future__ import annotations

import pytest

from tests.rules_core.commands import call, refused

USAGE = "(see: python -m rules_core{} --help)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"the following arguments are required: COMMAND {USAGE.format('')}"),
        (["--verbose"], f"the following arguments are required: COMMAND {USAGE.format('')}"),
        (["settle"], f"give either a case or --jsonl {USAGE.format(' settle')}"),
        (["settle", "x", "--jsonl"], f"give either a case or --jsonl {USAGE.format(' settle')}"),
        (["settle", "x", "y"], f"unrecognized arguments: y {USAGE.format('')}"),
        (["settle", "--json"], f"unrecognized arguments: --json {USAGE.format('')}"),
        (["evaluate"], f"the following arguments are required: CARDS {USAGE.format(' evaluate')}"),
        (["explain"], f"the following arguments are required: CASE {USAGE.format(' explain')}"),
        (["verify"], f"the following arguments are required: BUNDLE {USAGE.format(' verify')}"),
        (["play", "--seed", "1"], f"the following arguments are required: --ruleset {USAGE.format(' play')}"),
        (
            ["play", "--ruleset", "classic@1"],
            f"the following arguments are required: --seed {USAGE.format(' play')}",
        ),
        (
            ["play", "--ruleset", "classic@1", "--seed", "-1"],
            f"argument --seed: '-1' is not a whole number of up to 18 digits {USAGE.format(' play')}",
        ),
        (
            ["play", "--ruleset", "classic@1", "--seed", "1_0"],
            f"argument --seed: '1_0' is not a whole number of up to 18 digits {USAGE.format(' play')}",
        ),
        (
            ["play", "--ruleset", "classic@1", "--seed", "9" * 5000],
            f"argument --seed: '{'9' * 40}' is not a whole number of up to 18 digits {USAGE.format(' play')}",
        ),
        (
            ["play", "--ruleset", "classic@1", "--seed", "1", "--players", "0"],
            "a round needs at least one player",
        ),
        (["play", "--seed"], f"argument --seed: expected one argument {USAGE.format(' play')}"),
    ],
)
def test_wrong_arguments_are_an_error_object_too(arguments: list[str], message: str) -> None:
    assert call(*arguments) == refused("usage", message)


@pytest.mark.parametrize(
    "arguments", [["setle"], ["explain", "x", "--scale", "9"], ["explain", "x", "--scale", "a"]]
)
def test_arguments_whose_message_python_words(arguments: list[str]) -> None:
    called = call(*arguments)
    assert (called.status, called.value["error"]["code"]) == (2, "usage")


@pytest.mark.parametrize(
    "command", ["", "settle", "evaluate", "rulesets", "verify", "explain", "play", "demo"]
)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_plain_text_and_no_failure(command: str, option: str) -> None:
    helped = call(*command.split(), option)
    assert helped.status == 0
    assert helped.text.startswith(f"usage: python -m rules_core {command}".rstrip())
