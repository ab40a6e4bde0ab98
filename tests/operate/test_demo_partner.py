"""The partner of the demonstration: a wallet as a process, on a book that outlives it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from upcard_operate.demo.partner import DIALECT, Partner
from upcard_operate.local.process import Program, ServiceFailed

WITHIN_S = 60.0


def answers(partner: Partner) -> bool:
    """Whether somebody listens there."""
    try:
        httpx.post(f"{partner.address}/balance", content=b"{}", timeout=WITHIN_S)
    except httpx.ConnectError:
        return False
    return True


def test_its_book_outlives_the_process(tmp_path: Path) -> None:
    partner = Partner(tmp_path, "casino")
    partner.start()
    try:
        assert answers(partner)
        partner.give({"p1": 500, "p2": 70}, "EUR")
        assert partner.process.stop() == 0
        assert not answers(partner)
        partner.start()
        assert answers(partner), "at the same place"
        assert partner.balances(["p1", "p2", "p3"], "EUR") == {"p1": 500, "p2": 70, "p3": None}
        assert partner.movements() == []
    finally:
        partner.process.stop()


def test_the_wallet_service_is_told_where_it_is_and_how_it_speaks(tmp_path: Path) -> None:
    settings = Partner(tmp_path, "casino").settings()
    assert settings["UPCARD_PARTNERS"].startswith('{"casino": "http://127.0.0.1:')
    assert settings["UPCARD_PARTNER_DIALECTS"] == f'{{"casino": "{DIALECT}"}}'
    assert "PRIVATE KEY" in settings["UPCARD_PARTNER_SECRETS"]


def test_a_program_that_ends_says_why(tmp_path: Path) -> None:
    program = Program("nonsense", "upcard_conformance.reference", {}, tmp_path, arguments=["--book=b"])
    program.start()
    with pytest.raises(ServiceFailed, match=r"nonsense: it ended(.|\n)*--dialect"):
        program.until_said("plain", WITHIN_S)
    assert program.stop() == 2
