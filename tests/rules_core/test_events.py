"""CONTRACTS.md section 2: the Round's events, their documents and schemas, and payloads that last."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.command_line.random_round import random_round
from rules_core.log.content import parse_content
from rules_core.round.codec import VERSIONS, event_of, payload_of
from rules_core.round.describe import documents, payload_schema
from rules_core.round.describe.parts import Part, meaning_of, objects_in, parts_of
from rules_core.round.describe.words import ACTORS, MEANINGS, WRITTEN
from rules_core.round.events import EVENT_TYPES
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.rules_core.payload_features import possible, shown
from tests.rules_core.recorded_rounds import ROUNDS
from tools import generate_event_docs as tool

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "payloads"
NAMES = tuple(kind.__name__ for kind in EVENT_TYPES)
RANDOM_ROUNDS = 12
# Allowed by the form, but decided by no rule: a fold needs no money, and draws are always confirmed.
NEVER_DECIDED = {
    "BetDeclined: option = fold",
    "BetDeclined: choice = fold",
}


@functools.cache
def validator(name: str) -> Draft202012Validator:
    """The committed schema of an event's current version."""
    text = (ROOT / "docs" / "events" / f"{name}.v{VERSIONS[name]}.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def golden_payloads(name: str) -> list[bytes]:
    """The lines of one golden file."""
    return (GOLDEN / name).read_bytes().splitlines()


def golden_files() -> list[str]:
    """The golden files, by name."""
    return sorted(path.name for path in GOLDEN.glob("*.jsonl"))


def described() -> tuple[type[Any], ...]:
    """Every event, and every object inside one."""
    return tuple(dict.fromkeys(kind for event in EVENT_TYPES for kind in (event, *objects_in(event))))


def test_every_event_of_the_contract_exists_in_its_order() -> None:
    contract = (ROOT / "docs" / "CONTRACTS.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^Round: `([^`]+)`", contract, re.MULTILINE)
    assert tuple(listed.split()) == NAMES


def test_every_event_is_at_version_1_until_it_changes() -> None:
    assert dict(VERSIONS) == dict.fromkeys(NAMES, 1)


@functools.cache
def wanted() -> dict[str, str]:
    """The documents as the code gives them."""
    return documents()


@pytest.mark.parametrize("name", wanted())
def test_the_committed_document_is_what_the_code_gives(name: str) -> None:
    committed = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert committed == wanted()[name], "run `make docs`"


@pytest.mark.parametrize("kind", described())
def test_every_event_object_and_field_has_a_meaning(kind: type[Any]) -> None:
    meanings = [meaning_of(kind), *(part.meaning for part in parts_of(kind))]
    assert [text for text in meanings if not re.fullmatch(r"\S.*\.", text, re.DOTALL)] == []
    assert not meaning_of(kind).startswith(f"{kind.__name__}("), "a docstring that only dataclass wrote"


def test_a_field_without_a_meaning_is_an_error() -> None:
    @dataclass
    class Unexplained:
        """A word."""

        silent: str

    with pytest.raises(KeyError, match=r"Unexplained\.silent"):
        parts_of(Unexplained)


def test_a_meaning_stands_in_one_place() -> None:
    silent = {
        f"{kind.__name__}.{name}"
        for kind in described()
        for name, hint in kind.__annotations__.items()
        if part_of(kind, name).meaning == MEANINGS.get(f"{kind.__name__}.{name}")
        and not str(hint).startswith("Annotated[")
    }
    assert set(MEANINGS) == silent


def part_of(kind: type[Any], name: str) -> Part:
    """One field of a dataclass."""
    (found,) = [part for part in parts_of(kind) if part.name == name]
    return found


def test_when_and_by_whom_is_told_of_every_event() -> None:
    assert (tuple(WRITTEN), tuple(ACTORS)) == (NAMES, NAMES)


def test_the_actors_told_are_those_that_rounds_have() -> None:
    seen: dict[str, set[str]] = {name: set() for name in NAMES}
    for play in ROUNDS.values():
        for fact in play().facts:
            seen[type(fact.event).__name__].add(fact.actor.partition(":")[0])
    assert seen == {name: set(actors) for name, actors in ACTORS.items()}


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_a_schema_is_one(kind: type[Any]) -> None:
    Draft202012Validator.check_schema(payload_schema(kind))


@pytest.mark.parametrize("ruleset", shipped_ids())
def test_payloads_of_random_rounds_fit_their_schemas_and_come_back(ruleset: str) -> None:
    for seed in range(RANDOM_ROUNDS):
        table = random_round(shipped(ruleset), seed, 1 + seed % 5)
        for event, data in zip(table.events, table.contents, strict=True):
            content = parse_content(data)
            validator(content.type).validate(content.payload)
            assert event_of(content.type, content.version, content.payload) == event
            assert payload_of(event) == content.payload


@pytest.mark.parametrize("name", ROUNDS)
def test_payloads_of_mishaps_fit_their_schemas_and_come_back(name: str) -> None:
    for fact in ROUNDS[name]().facts:
        kind = type(fact.event).__name__
        data = canonical_bytes(payload_of(fact.event))
        payload: Any = parse_canonical(data)
        validator(kind).validate(payload)
        assert event_of(kind, VERSIONS[kind], payload) == fact.event


def test_every_version_has_golden_payloads() -> None:
    wanted = [f"{name}.v{v}.jsonl" for name in NAMES for v in range(1, VERSIONS[name] + 1)]
    assert golden_files() == sorted(wanted)


def test_golden_payloads_are_never_edited() -> None:
    digests = {name: hashlib.sha256((GOLDEN / name).read_bytes()).hexdigest() for name in golden_files()}
    pinned = [line.split("  ") for line in (GOLDEN / "SHA256SUMS").read_text(encoding="ascii").splitlines()]
    assert digests == {name: digest for digest, name in pinned}


@pytest.mark.parametrize("file", golden_files())
def test_golden_payloads_are_read_back_to_the_same_bytes(file: str) -> None:
    name, version = file.removesuffix(".jsonl").split(".v")
    lines = golden_payloads(file)
    assert len(lines) >= 5
    for line in lines:
        payload: Any = parse_canonical(line)
        event = event_of(name, int(version), payload)
        if int(version) == VERSIONS[name]:
            assert canonical_bytes(payload_of(event)) == line
            validator(name).validate(payload)


def test_golden_payloads_show_every_field_and_every_word() -> None:
    missing = set()
    for name in NAMES:
        schema = payload_schema(EVENT_TYPES[NAMES.index(name)])
        lines = golden_payloads(f"{name}.v{VERSIONS[name]}.jsonl")
        seen = set().union(*(shown(schema, parse_canonical(line)) for line in lines))
        missing |= {f"{name}: {feature}" for feature in possible(schema) - seen}
    assert missing == NEVER_DECIDED


def test_golden_payloads_show_every_kind_of_declined_command() -> None:
    payloads: list[Any] = [parse_canonical(line) for line in golden_payloads("BetDeclined.v1.jsonl")]
    late = {"PlaceBet", "RepeatBets", "DoubleBets", "ChooseOption", "ChooseFinalOption", "MakePurchase"}
    reasons = {command: {p["reason"] for p in payloads if p["command"] == command} for command in late}
    for command, found in reasons.items():
        closed = "betting_closed" if command.endswith(("Bet", "Bets")) else "window_closed"
        assert (command, found) >= (command, {"funds_refused", closed})
    assert {p["command"] for p in payloads} == late | {"DeclineBet"}


def run_tool(*arguments: str) -> tuple[int, list[str]]:
    """Run the tool as a program: its exit status and the lines printed."""
    command = (sys.executable, "-m", "tools.generate_event_docs", *arguments)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_tool_finds_nothing_to_do_here() -> None:
    assert run_tool("--check") == (0, [])


def test_the_tool_writes_what_it_checks_and_names_what_differs(tmp_path: Path) -> None:
    there = ("--docs", str(tmp_path))
    assert run_tool("--check", *there) == (1, list(wanted()))
    assert run_tool(*there) == (0, [])
    assert {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*.*")
    } == wanted()
    (tmp_path / "events.md").write_text("# Events\n", encoding="utf-8")
    (tmp_path / "events" / "BetPlaced.v1.schema.json").unlink()
    (tmp_path / "events" / "BetLost.v1.schema.json").touch()
    wrong = ["events.md", "events/BetPlaced.v1.schema.json", "events/BetLost.v1.schema.json"]
    assert run_tool("--check", *there) == (1, wrong)


def test_the_tool_leaves_schemas_of_older_versions_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.write(tmp_path)
    monkeypatch.setattr(tool, "VERSIONS", {"CardBurned": 3})
    (tmp_path / "events" / "CardBurned.v2.schema.json").touch()
    (tmp_path / "events" / "CardBurned.v3.schema.json").touch()
    assert tool.outdated(tmp_path) == ["events/CardBurned.v3.schema.json"]
