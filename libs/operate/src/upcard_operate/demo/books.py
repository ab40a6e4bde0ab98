"""The days of the casinos that sent players: our reports and a partner's own book have to agree."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Mapping
from typing import Final

from upcard_operate.demo.operators import OPERATORS, DemoOperator
from upcard_operate.demo.partner import Partner
from upcard_operate.demo.report import Report, money
from upcard_operate.demo.tables import CURRENCY
from upcard_platform.client import Platform
from upcard_platform.models.reports import Reconciliation

AGREED_S: Final = 30.0
"""Longest that a day may take to agree after the last round."""
_PAUSE_S: Final = 0.5


async def compare_books(
    report: Report, platforms: Mapping[str, Platform], partner: Partner, began: dt.datetime
) -> None:
    """Reconcile the days since `began` with each casino; what is found is added to the report."""
    for operator in OPERATORS:
        problems = await _until_right(platforms[operator.operator], operator, partner, began)
        if problems:
            report.wrong += [f"{operator.name}: {problem}" for problem in problems]
        else:
            whose = "its own book" if operator.seamless else "the wallet's lines"
            moved = (
                f", {len(await asyncio.to_thread(partner.movements))} movements" if operator.seamless else ""
            )
            report.agreements.append(f"{operator.name}: its day is reconciled with {whose}{moved}")


async def _until_right(
    platform: Platform, operator: DemoOperator, partner: Partner, began: dt.datetime
) -> list[str]:
    deadline = asyncio.get_running_loop().time() + AGREED_S
    while True:
        days = [await platform.reports.reconciliation(day) for day in _days(began)]
        problems = [problem for day in days for problem in _differences(day)]
        if operator.seamless:
            problems += await asyncio.to_thread(_against_their_book, days, partner)
        if not problems or asyncio.get_running_loop().time() > deadline:
            return problems
        await asyncio.sleep(_PAUSE_S)


def _days(began: dt.datetime) -> list[dt.date]:
    """UTC days that it was played on: two around midnight."""
    today = dt.datetime.now(dt.UTC).date()
    return [began.date()] if began.date() == today else [began.date(), today]


def _differences(day: Reconciliation) -> list[str]:
    if day.agrees and not day.differences:
        return []
    return [f"{day.day} does not agree: {[one.model_dump() for one in day.differences][:3]}"]


def _against_their_book(days: list[Reconciliation], partner: Partner) -> list[str]:
    """What its players have won and lost since the beginning, in our books and in its own."""
    done = [one for one in partner.movements() if one.state == "done"]
    theirs = sum(-one.amount if one.kind == "bet" else one.amount for one in done)
    ours = sum(one.closing.cash for one in days[-1].balances if one.currency == CURRENCY)
    problems = []
    if ours != theirs:
        problems.append(f"it gave {money(ours)} by our report, {money(theirs)} by its own book")
    # A bet without a clear answer is rolled back: what became of that is a call of its own.
    waiting = sum(one.calls for day in days for one in day.calls if one.state in {"waiting", "parked"})
    if waiting:
        problems.append(f"{waiting} calls to its wallet wait")
    return problems
