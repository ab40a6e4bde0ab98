"""`play`, `verify` and `demo`: rounds played, recorded, and run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.command_line import demo_command
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.model import CaseError
from tests.rules_core.commands import call, refused


@pytest.mark.parametrize("name", shipped_ids())
def test_what_is_played_is_a_bundle_that_verifies(name: str, tmp_path: Path) -> None:
    played = call("play", "--ruleset", name, "--seed", "7")
    bundle = parse_canonical(played.text.encode())
    assert isinstance(bundle, dict)
    assert (played.status, bundle["ruleset"], bundle["for"]) == (0, ruleset_object(shipped(name)), None)
    path = tmp_path / "round.json"
    path.write_text(played.text, encoding="utf-8")
    verified = call("verify", str(path))
    assert (verified.status, verified.text.splitlines()[0]) == (
        0,
        "AGREED: round-play.1 was decided again and every result is the recorded one.",
    )
    report = call("verify", str(path), "--json")
    assert (report.status, report.value["outcome"], report.value["problems"]) == (0, "agreed", [])


def players_of(bundle: Any) -> set[str]:
    contents = (event["content"] for event in bundle["round"]["events"])
    return {content["payload"]["player"] for content in contents if content["type"] == "PlayerSettled"}


def test_as_many_play_as_is_asked_and_three_by_default() -> None:
    arguments = ("play", "--ruleset", "live-shared@1", "--seed", "7")
    assert players_of(call(*arguments).value) == {"p1", "p2", "p3"}
    assert call(*arguments, "--players", "3") == call(*arguments)
    assert players_of(call(*arguments, "--players", "5").value) == {"p1", "p2", "p3", "p4", "p5"}
    assert players_of(call(*arguments, "--players", "1").value) == {"p1"}


def test_another_seed_is_another_round() -> None:
    rounds = {call("play", "--ruleset", "classic@1", "--seed", str(seed)).text for seed in range(4)}
    assert len(rounds) == 4


@pytest.mark.parametrize(
    ("ruleset", "players", "room"),
    [("three-box@1", 4, 3), ("classic@1", 7, 6), ("live-shared@1", 10_001, 10_000)],
)
def test_more_players_than_there_is_room_for_are_refused(ruleset: str, players: int, room: int) -> None:
    played = call("play", "--ruleset", ruleset, "--seed", "1", "--players", str(players))
    message = f"{ruleset} has room for {room} players here, not for {players}"
    assert played == refused("players_too_many", message)


def test_an_exclusive_table_may_be_full() -> None:
    assert call("play", "--ruleset", "three-box@1", "--seed", "1", "--players", "3").status == 0


def test_verify_tells_a_round_that_was_changed() -> None:
    bundle = call("play", "--ruleset", "live-shared@1", "--seed", "7").value
    bundle["round"]["events"][-1]["content"]["payload"]["totals"][0]["returned"] += 1
    data = canonical_bytes(bundle)
    verified = call("verify", "-", stdin=data)
    assert verified.status == 1
    assert verified.text.startswith("DISAGREED: round-play.1 is not what the rules give.\n")
    report = call("verify", "-", "--json", stdin=data)
    assert (report.status, report.value["outcome"]) == (1, "disagreed")


BEGINNING = b'{"bundle_version":'


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{}", b" {}", b"\xff", b"[" * 100_000),
        *(BEGINNING + rest for rest in (b"", b"1", b"1}", b"2}", b"\xff", b"[" * 100_000)),
    ],
)
def test_verify_ends_with_an_error_where_there_is_no_bundle(data: bytes) -> None:
    verified = call("verify", "-", stdin=data)
    report = call("verify", "-", "--json", stdin=data)
    assert verified == refused("bundle_unreadable", f"standard input: {report.value['unreadable']}")
    assert (report.status, report.value["outcome"]) == (2, "unreadable")


def test_a_bundle_with_a_line_feed_at_its_end_is_no_longer_canonical() -> None:
    played = call("play", "--ruleset", "live-shared@1", "--seed", "7")
    assert not played.text.endswith("\n")
    assert call("verify", "-", stdin=played.text.encode() + b"\n").status == 2


def test_demo_plays_explains_and_verifies_a_round_of_each_ruleset() -> None:
    shown = call("demo")
    lines = shown.text.splitlines()
    titles = [f"{shipped(name).title} ({name})" for name in shipped_ids()]
    assert shown.status == 0
    assert [line for line in lines if line in titles] == titles
    assert sum(line.startswith("AGREED: round-play.1 ") for line in lines) == len(titles)
    assert sum(line.startswith("In all ") for line in lines) >= len(titles)
    assert max(map(len, lines)) <= 100
    assert call("demo", "--seed", "1").text != shown.text


def test_a_round_that_would_be_no_case_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_command, "settle", lambda _: CaseError("boxes_empty", "no box"))
    with pytest.raises(RuntimeError, match="a round was played that is no case"):
        call("demo")


def test_a_round_of_the_demo_can_be_played_again() -> None:
    lines = call("demo").text.splitlines()
    commands = [line.split("python -m rules_core ")[1] for line in lines if line.startswith("Its bundle: ")]
    assert len(commands) == len(shipped_ids())
    for command in commands:
        bundle = call(*command.split())
        assert call("verify", "-", stdin=bundle.text.encode()).status == 0
