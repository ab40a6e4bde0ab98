"""The reference wallet passes the kit, also when it is killed in the middle."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.world import DIALECTS, MONEY, SECRET, TARGET, WITHIN_S, played, program, wallet
from upcard_conformance.kit import run_kit
from upcard_conformance.reference.book import Book
from upcard_conformance.reference.wallet import ReferenceWallet, speakers_of
from upcard_conformance.reports.words import in_words
from upcard_conformance.wire import Wire
from upcard_seamless.dialects import load_dialect, written

NOT_FOR = {"plain": set[str](), "single": {"bet_of_several_is_all_or_nothing"}}
"""What a dialect does not have."""


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_reference_wallet_conforms_through_a_crash(tmp_path: Path, dialect: str) -> None:
    async with program(tmp_path / "book.db") as running:
        target = replace(TARGET, restart=running.kill_and_start)
        report = await played(running.addresses[dialect], dialect, target=target)
    assert report.conforms, in_words(report)
    assert {one.case for one in report.findings if one.outcome == "not_run"} == NOT_FOR[dialect]
    (slowest,) = report.notes
    assert slowest.startswith("The slowest answer took"), "and nothing else: players are left as they were"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_its_book_adds_up_after_a_run(tmp_path: Path, dialect: str) -> None:
    async with wallet(tmp_path / "book.db") as running:
        report = await played(running.address_of(dialect), dialect)
        assert report.conforms, in_words(report)
        balances = await running.on_book(lambda book: [book.balance_of(one, "EUR") for one in ("p1", "p2")])
        owed = await running.on_book(lambda book: book.owed("EUR"))
        movements = await running.on_book(Book.movements)
    assert sum(one or 0 for one in balances) == 2 * MONEY - owed
    assert owed == 0
    assert {one.state for one in movements} == {"done", "undone", "never"}


async def test_a_dialect_of_ones_own_is_a_file_and_no_code(tmp_path: Path) -> None:
    """Amounts as texts in an object, a prefix before signatures, repeats and unknowns answered otherwise."""
    own = json.loads(written(load_dialect("plain")))
    own |= {"name": "own", "repeated": "duplicate", "unknown_rollback": "duplicate"}
    own["amounts"] = {"unit": "major", "factor": 10_000, "written": "text"}
    own["signature"] |= {"encoding": "base64", "prefix": "sha256="}
    for kind in ("bet", "win", "rollback"):
        own["calls"][kind]["path"] = f"/v2/{kind}"
        own["calls"][kind]["body"]["transactions"] = [{"ref": "$transaction", "money": {"value": "$amount"}}]
    same = {"total": "$total", "player": "$player"}
    own["answer"]["meanings"].insert(
        0, {"means": "duplicate", "http": 208, "where": {"status": "repeated"}, "same": same}
    )
    path = tmp_path / "own.json"
    path.write_text(json.dumps(own))
    book = Book(tmp_path / "book.db")
    book.open("p1", "EUR", MONEY)
    book.open("p2", "EUR", MONEY, signed_in=False)
    async with (
        ReferenceWallet(book, speakers_of({str(path): SECRET})) as running,
        Wire(running.address_of("own"), load_dialect(str(path)), SECRET, timeout_s=WITHIN_S) as wire,
    ):
        report = await run_kit(wire, TARGET)
    assert report.conforms, in_words(report)
