"""Playing the cases, one after another, against one wallet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from upcard_conformance.cases import asking, bets, order, rollbacks, wins
from upcard_conformance.cases.case import Case
from upcard_conformance.findings import Fault, Finding, Outcome, Report
from upcard_conformance.stage import MONEY_MIN, Failed, NotRun, Stage, Target
from upcard_conformance.wire import Wire

CASES: Final[tuple[Case, ...]] = tuple(
    one
    for module in (asking, bets, wins, rollbacks, order)
    for one in vars(module).values()
    if isinstance(one, Case)
)
"""All cases in the order in which they are played."""


class CannotBegin(Exception):
    """Nothing can be said of this wallet: the text says what is missing and what to do."""


def cases_named(names: Sequence[str]) -> tuple[Case, ...]:
    """Those cases alone; all, where none is named. Raises CannotBegin."""
    unknown = sorted(set(names) - {one.name for one in CASES})
    if unknown:
        known = ", ".join(one.name for one in CASES)
        raise CannotBegin(f"there is no case {', '.join(unknown)}; there are {known}")
    return tuple(one for one in CASES if not names or one.name in names)


async def run_kit(
    wire: Wire,
    target: Target,
    cases: Sequence[Case] = CASES,
    *,
    tell: Callable[[Finding], None] | None = None,
) -> Report:
    """Play the cases. `tell` gets each finding as it is made. Raises CannotBegin."""
    before = await _begin(wire, target)
    findings = []
    for one in cases:
        finding = await _played(one, wire, target)
        findings.append(finding)
        if tell is not None:
            tell(finding)
    return Report(
        wallet_url=wire.address,
        dialect=wire.dialect.name,
        player=target.player,
        currency=target.currency,
        findings=tuple(findings),
        notes=await _notes(wire, target, before, findings),
    )


async def _begin(wire: Wire, target: Target) -> int:
    stage = Stage(wire, target)
    try:
        found = await stage.balance()
    except Failed as failed:
        raise CannotBegin(
            f"the wallet does not tell the balance of player {target.player} in {target.currency}: "
            f"{failed.fault.found}; check --wallet-url, --dialect, the secret and --player"
        ) from None
    if found < MONEY_MIN:
        raise CannotBegin(
            f"player {target.player} has {found} minor units of {target.currency}; "
            f"give them {MONEY_MIN} or more, all of it play money"
        )
    return found


async def _played(one: Case, wire: Wire, target: Target) -> Finding:
    stage = Stage(wire, target)
    began = asyncio.get_running_loop().time()
    outcome: Outcome = "passed"
    fault: Fault | None = None
    reason = ""
    try:
        await one.play(stage)
    except Failed as failed:
        outcome, fault = "failed", failed.fault
    except NotRun as not_run:
        outcome, reason = "not_run", str(not_run)
    took_ms = round((asyncio.get_running_loop().time() - began) * 1000)
    await stage.tidy()
    return Finding(
        case=one.name,
        title=one.title,
        rows=one.rows,
        outcome=outcome,
        why=one.why,
        mend=one.mend,
        fault=fault,
        reason=reason,
        exchanges=tuple(stage.exchanges),
        took_ms=took_ms,
    )


async def _notes(wire: Wire, target: Target, before: int, findings: Sequence[Finding]) -> tuple[str, ...]:
    """What else there is to say: how slow it was, and whether the player has what they began with."""
    try:
        after = await Stage(wire, target).balance()
    except Failed as failed:
        return (f"At the end the wallet did not tell the player's balance: {failed.fault.found}.",)
    slowest = max(
        (one for case in findings for one in case.exchanges), key=lambda one: one.took_ms, default=None
    )
    notes = [] if slowest is None else [f"The slowest answer took {slowest.took_ms} ms ({slowest.what})."]
    if after != before:
        left = f"The player began with {before} and has {after} now"
        notes.append(f"{left}: the kit undoes what it did as far as the wallet lets.")
    return tuple(notes)
