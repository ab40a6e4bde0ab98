"""Each command of CONTRACTS.md section 1: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules_core.canonical import InvalidJson, parse_strict
from rules_core.cards import InvalidCard
from rules_core.command_line import settle_command, verify_command
from rules_core.command_line.failure import FAILURES
from rules_core.command_line.json_text import laid_out
from rules_core.engine import ENGINE
from rules_core.rulesets.parse import parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.rules_core.commands import EXAMPLE, call, refused
from tests.rules_core.settling import QUEENS, box, case, outcome_of

CASE = json.loads(Path(EXAMPLE).read_bytes())


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


# ---------------------------------------------------------------------------------------------- settle


def test_settle_prints_the_result_of_the_contract() -> None:
    settled = call("settle", EXAMPLE)
    assert (settled.status, settled.value) == (0, outcome_of(CASE))
    assert list(settled.value) == ["ruleset", "ruleset_sha256", "engine", "dealer", "boxes"]
    assert (settled.value["engine"], settled.value["boxes"][0]["net"]) == (ENGINE, 690)


def test_settle_reads_standard_input_for_a_dash() -> None:
    assert call("settle", "-", stdin=as_bytes(CASE)) == call("settle", EXAMPLE)


def test_settle_takes_a_whole_ruleset_in_the_place_of_an_id() -> None:
    own = ruleset_object(shipped("live-shared@1")) | {"id": "my-house@1"}
    settled = call("settle", "-", stdin=as_bytes(CASE | {"ruleset": own}))
    expected = outcome_of(CASE)
    parsed = parse_ruleset(own)
    assert (settled.status, settled.value["ruleset"]) == (0, "my-house@1")
    assert settled.value["ruleset_sha256"] == getattr(parsed, "sha256", None) != expected["ruleset_sha256"]
    assert settled.value["boxes"] == expected["boxes"]


def test_settle_ends_with_the_error_object_of_a_case_that_breaks_a_rule() -> None:
    broken = case("live-shared@1", QUEENS, box("Ah Ad Kc 7s 3d", insurance=100))
    settled = call("settle", "-", stdin=as_bytes(broken))
    assert (settled.status, settled.value) == (2, outcome_of(broken))
    assert settled.value["error"]["code"] == "insurance_hand_too_low"
    assert settled.text.count("\n") == 1


@pytest.mark.parametrize("command", ["settle", "explain"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a": 1, "a": 1}',
        b'{"a": 1.5}',
        b'{"a": NaN}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b"{}{}",
    ],
)
def test_text_that_is_no_json_is_refused_with_what_and_where(command: str, data: bytes) -> None:
    with pytest.raises(InvalidJson) as wrong:
        parse_strict(data)
    assert call(command, "-", stdin=data) == refused("json_invalid", f"standard input: {wrong.value}")


def test_settle_says_which_key_a_case_lacks() -> None:
    assert call("settle", "-", stdin=b"{}").value == outcome_of({})


# ------------------------------------------------------------------------------------ files and bounds


@pytest.mark.parametrize("command", ["settle", "explain", "verify"])
def test_a_file_that_cannot_be_read_is_named(command: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    assert call(command, missing) == refused(
        "file_unreadable", f"{missing} cannot be read: No such file or directory"
    )
    assert call(command, str(tmp_path)) == refused(
        "file_unreadable", f"{tmp_path} cannot be read: Is a directory"
    )
    assert call(command, "a\0b").value["error"]["code"] == "file_unreadable"
    assert call(command, "-", stdin=None) == refused("file_unreadable", "there is no standard input")


@pytest.mark.parametrize(
    ("command", "module", "bound"),
    [
        ("settle", settle_command, "CASE_BYTES_MAX"),
        ("explain", settle_command, "CASE_BYTES_MAX"),
        ("verify", verify_command, "BUNDLE_BYTES_MAX"),
    ],
)
def test_input_of_more_bytes_than_the_bound_is_refused(
    command: str, module: Any, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, bound, 10)
    assert call(command, "-", stdin=b" " * 11) == refused(
        "input_too_large", "standard input is longer than 10 bytes"
    )
    assert call(command, "-", stdin=b"[" * 10).value["error"]["code"] != "input_too_large"


@pytest.mark.parametrize(("command", "mebibytes"), [("settle", 16), ("explain", 16), ("verify", 64)])
def test_endless_input_is_read_no_further_than_the_bound(command: str, mebibytes: int) -> None:
    assert call(command, "/dev/zero") == refused(
        "input_too_large", f"/dev/zero is longer than {mebibytes << 20} bytes"
    )


# -------------------------------------------------------------------------------------------- evaluate


@pytest.mark.parametrize(
    ("cards", "best", "combinations", "odds"),
    [
        (["Ah Ad Kc 7s 3d"], "one_pair", ["one_pair", "ace_king"], 2),
        (["Ah", "Ad", "Kc", "7s", "3d"], "one_pair", ["one_pair", "ace_king"], 2),
        (["2h 4d 6c 8s Td"], "nothing", [], 0),
        (["9s 8h 7d 6c 5s 9d"], "straight", ["straight", "straight"], 8),
        (
            ["9s 8h 7d 6c 5s 9d", "--paired-straight", "two_straights"],
            "straight",
            ["straight", "straight"],
            8,
        ),
        (
            ["9s 8h 7d 6c 5s 9d", "--paired-straight", "straight_and_pair"],
            "straight",
            ["straight", "one_pair"],
            5,
        ),
    ],
)
def test_evaluate_prints_best_combinations_and_odds(
    cards: list[str], best: str, combinations: list[str], odds: int
) -> None:
    evaluated = call("evaluate", *cards)
    expected = {"best": best, "combinations": combinations, "odds": odds}
    assert (evaluated.status, evaluated.text) == (0, json.dumps(expected) + "\n")


@pytest.mark.parametrize(
    ("cards", "code", "message"),
    [
        ("Ah Ad Kc 7s 3x", "card_unreadable", str(InvalidCard("3x"))),
        ("Ah Ad Kc 7s \udcff\udcff", "card_unreadable", str(InvalidCard("\udcff\udcff"))),
        ("Ah Ad Kc 7s", "hand_invalid", "a hand has five or six cards, not 4"),
        ("", "hand_invalid", "a hand has five or six cards, not 0"),
        ("Ah Ad Kc 7s Ad", "hand_invalid", "Ad comes twice in one hand"),
    ],
)
def test_evaluate_refuses_what_is_no_hand(cards: str, code: str, message: str) -> None:
    assert call("evaluate", cards) == refused(code, message)


# -------------------------------------------------------------------------------------------- rulesets


def test_rulesets_lists_all_with_their_digests() -> None:
    listed = call("rulesets")
    rulesets = map(shipped, shipped_ids())
    assert listed.status == 0
    assert listed.value == [{"id": r.id, "title": r.title, "sha256": r.sha256} for r in rulesets]


@pytest.mark.parametrize("name", shipped_ids())
def test_rulesets_prints_one_whole_with_its_digest(name: str) -> None:
    printed = call("rulesets", name)
    ruleset = shipped(name)
    assert printed.status == 0
    assert printed.value == {"id": name, "sha256": ruleset.sha256, "ruleset": ruleset_object(ruleset)}
    assert parse_ruleset(printed.value["ruleset"]) == ruleset


@pytest.mark.parametrize("arguments", [["rulesets", "x@1"], ["play", "--ruleset", "x@1", "--seed", "1"]])
def test_a_ruleset_that_is_not_known_is_refused_with_those_that_are(arguments: list[str]) -> None:
    known = "classic@1, dark-boxes@1, four-box@1, live-shared@1, three-box@1"
    assert call(*arguments) == refused("ruleset_unknown", f"no ruleset x@1 is known; use {known}")


# --------------------------------------------------------------------------------------------- explain


def test_explain_prints_the_settlement_in_english() -> None:
    explained = call("explain", EXAMPLE)
    assert explained.status == 0
    assert explained.text.splitlines()[0] == "Settled under the rules live-shared@1 (Live shared table)."
    assert explained.text.splitlines()[-1] == "In all 810 staked, 1500 returned: 690 won."


def test_explain_shows_amounts_in_a_currency() -> None:
    explained = call("explain", EXAMPLE, "--scale", "2", "--currency", "EUR")
    assert explained.text.splitlines()[-1] == "In all 8.10 EUR staked, 15.00 EUR returned: 6.90 EUR won."


def test_explain_can_be_for_one_player() -> None:
    two = case("live-shared@1", QUEENS, box("Ah Ad Kc 7s 3d"), box("Ah Ad Kc 7s 3d", player="p2"))
    whole, part = (call("explain", "-", *more, stdin=as_bytes(two)) for more in ((), ("--player", "p2")))
    table, _, second = whole.text.split("\n\n")
    assert part.text.split("\n\n") == [table, second]
    assert call("explain", "-", "--player", "p3", stdin=as_bytes(two)) == refused(
        "player_unknown", "no box of the case is of player p3"
    )


def test_explain_ends_with_the_error_object_of_a_case_that_breaks_a_rule() -> None:
    explained = call("explain", "-", stdin=b"{}")
    assert (explained.status, explained.value) == (2, outcome_of({}))


# ---------------------------------------------------------------------------------------------- output


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}\n"),
        ("x" * 200, f'"{"x" * 200}"\n'),
        ({"a": [1, None, True, "é"]}, '{"a": [1, null, true, "é"]}\n'),
        (
            {"a": {"b": "x" * 60, "c": "y" * 60}, "d": []},
            f'{{\n  "a": {{\n    "b": "{"x" * 60}",\n    "c": "{"y" * 60}"\n  }},\n  "d": []\n}}\n',
        ),
        (["x" * 60, ["y" * 60]], f'[\n  "{"x" * 60}",\n  ["{"y" * 60}"]\n]\n'),
    ],
)
def test_json_is_laid_out_as_far_as_it_fits(value: object, text: str) -> None:
    assert laid_out(value) == text


def test_json_laid_out_is_the_same_json() -> None:
    for name in shipped_ids():
        value = ruleset_object(shipped(name))
        assert list(json.loads(laid_out(value))) == list(value)
        assert json.loads(laid_out(value)) == value
        assert max(map(len, laid_out(value).splitlines())) <= 110


def test_every_code_of_the_command_line_is_documented() -> None:
    text = (Path(EXAMPLE).parents[1] / "command-line.md").read_text("utf-8")
    assert [code for code in FAILURES if f"`{code}`" not in text] == []
