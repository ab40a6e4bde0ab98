"""`python -m upcard_history compare` and `… replay-all`: what they do, say and end with."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import asyncpg
import pytest

from tests.history.desk.world import World
from upcard_history.entrypoints import command_line


@dataclass
class Owner:
    """Whoever owns the database, at a command line."""

    dsn: str
    capture: pytest.CaptureFixture[str]

    async def command(self, *arguments: str) -> tuple[int, str, str]:
        """Status, output, errors."""
        self.capture.readouterr()
        code = await asyncio.to_thread(command_line.main, [*arguments, "--dsn", self.dsn])
        said = self.capture.readouterr()
        return code, said.out, said.err

    async def execute(self, statement: str) -> None:
        """Change something behind everybody's back."""
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@pytest.fixture
def owner(database: str, capsys: pytest.CaptureFixture[str]) -> Owner:
    """The owner of this test's database."""
    return Owner(database, capsys)


async def test_views_are_what_the_log_makes_of_them(world: World, owner: Owner) -> None:
    await world.play(players=("p1", "p2"))
    await world.play("dark-boxes@1", table="t2", players=("p1",))
    await world.account("p1")
    await world.apply()
    code, said, _ = await owner.command("compare", "--json")
    lines = [json.loads(line) for line in said.splitlines() if line.startswith('{"view"')]
    assert code == 0
    assert [(line["view"], line["equal"]) for line in lines] == [
        ("rounds_view", True),
        ("accounts_view", True),
        ("tables_view", True),
    ]
    assert lines[0]["rows"]["rounds"] == 2
    assert not any(line["differences"] or line["parked"] for line in lines)


async def test_what_somebody_has_changed_is_found(world: World, owner: Owner) -> None:
    await world.play(players=("p1", "p2"))
    await world.apply()
    await owner.execute("UPDATE rounds_view.players SET returned = returned + 1 WHERE player = 'p1'")
    await owner.execute("DELETE FROM rounds_view.windows WHERE kind = 'betting'")
    code, said, _ = await owner.command("compare", "rounds_view")
    assert code == 1
    assert "rounds_view: DIFFERENT" in said
    assert "players, live only" in said
    assert "players, built only" in said
    assert "windows, built only" in said
    code, said, _ = await owner.command("compare", "rounds_view", "--json")
    (line,) = [json.loads(line) for line in said.splitlines() if line.startswith('{"view"')]
    assert (code, line["equal"]) == (1, False)
    assert {one["table"] for one in line["differences"]} == {"players", "windows"}
    assert (await owner.command("compare", "accounts_view"))[0] == 0


async def test_a_view_that_lags_is_compared_as_far_as_it_is(world: World, owner: Owner) -> None:
    await world.play()
    await world.apply()
    await world.play(table="t2")
    code, said, _ = await owner.command("compare", "rounds_view")
    assert (code, "rounds_view: equal" in said) == (0, True), said


async def test_every_round_is_replayed_again_when_somebody_says_so(
    world: World, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "_ROUNDS_AT_ONCE", 2)
    for number in range(1, 6):
        await world.play(number=number)
    await world.apply()
    await world.replay()
    code, said, _ = await owner.command("replay-all", "--json")
    assert (code, [json.loads(line) for line in said.splitlines() if line.startswith('{"rounds"')]) == (
        0,
        [{"rounds": 5}],
    )
    await world.replay()
    assert world.replays.outcomes == ["agreed"] * 10
    assert "5 rounds will be replayed again." in (await owner.command("replay-all"))[1]
    assert "0 rounds will be replayed again." in (await owner.command("replay-all"))[1]


async def test_a_view_that_is_not_there(world: World, owner: Owner) -> None:
    await world.apply()
    code, _, errors = await owner.command("compare", "no_view")
    assert code == 2
    assert "There is no view no_view; there are rounds_view, accounts_view, tables_view." in errors


def test_a_database_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    dsn = "postgresql://nobody:secret@127.0.0.1:1/none"
    assert command_line.main(["compare", "--dsn", dsn]) == 1
    assert "secret" not in capsys.readouterr().err


def test_no_database_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPCARD_DSN", raising=False)
    assert command_line.main(["compare"]) == 2
    assert "UPCARD_DSN" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["destroy"], ["compare", "--what"], []])
def test_what_is_no_command(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command_line.main(words)
    assert caught.value.code == 2
