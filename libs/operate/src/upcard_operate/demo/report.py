"""What happened, and whether everything agrees: log, replay, wallet, partners' books, bonus, history."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from rules_core.log.content import parse_content
from servicekit.grpc import acting_as
from upcard.bonus.v1 import bonus_pb2
from upcard.wallet.v1 import wallet_pb2
from upcard_operate.demo.casino import PLATFORM, Casino
from upcard_operate.demo.crowd import DemoPlayer
from upcard_operate.demo.evidence import RoundEvidence, contents_of
from upcard_operate.demo.house import accepted
from upcard_operate.demo.partner import Partner
from upcard_operate.demo.tables import CURRENCY, JACKPOT
from upcard_operate.demo.views import differing_views, disagreements_of_history
from upcard_operate.local.fleet import Fleet
from upcard_operate.local.process import ServiceFailed

SETTLED_S: Final = 30.0
"""Longest that the services may take to agree, after the last round has ended."""
_CALL_S: Final = 30.0
_PAUSE_S: Final = 0.25
_ALARMS: Final = (
    "upcard_wallet_difference_alarms",
    "upcard_wallet_suspense_minor_units_total",
    "upcard_wallet_partner_calls_parked_total",
)


@dataclass(slots=True)
class Report:
    """What is printed at the end; `wrong` has a sentence for everything that disagrees."""

    rounds: list[RoundEvidence]
    outcomes: Counter[str] = field(default_factory=Counter)
    jackpots: dict[str, int] = field(default_factory=dict)
    """Won shares by player, minor units."""
    contributions: int = 0
    pool: int = 0
    paid_in: int = 0
    cash: int = 0
    wrong: list[str] = field(default_factory=list)
    accounts: dict[str, str] = field(default_factory=dict)
    """Accounts by player, of those whose money lies with us."""
    agreements: list[str] = field(default_factory=list)
    """A sentence for each further comparison that found no difference."""

    @property
    def agreed(self) -> bool:
        """Whether nothing disagrees."""
        return not self.wrong


class Players(Protocol):
    """Players of one table, with what became of what they wanted."""

    @property
    def players(self) -> Sequence[DemoPlayer]:
        """All of them."""
        ...

    @property
    def outcomes(self) -> Counter[str]:
        """How often it was `accepted`, or why not."""
        ...


async def report_on(
    casino: Casino,
    fleet: Fleet,
    crowds: Sequence[Players],
    rounds: list[RoundEvidence],
    partner: Partner | None = None,
) -> Report:
    """Compare what every service says with what the log proves; players `elsewhere` by the partner's book."""
    report = Report(rounds)
    for crowd in crowds:
        report.outcomes.update(crowd.outcomes)
    for one in rounds:
        report.wrong += [f"{one.stream}: {problem}" for problem in one.problems]
    await _look_at_jackpots(casino, report)
    await _look_at_balances(casino, report, [one for crowd in crowds for one in crowd.players], partner)
    report.wrong += await disagreements_of_history(casino, rounds)
    report.wrong += await differing_views(fleet)
    await asyncio.to_thread(_look_at_alarms, fleet, report)
    return report


async def _look_at_jackpots(casino: Casino, report: Report) -> None:
    # Contributions follow the ends of their rounds within a moment: all of them are waited for.
    wanted = sum(one.plays_for_jackpot for one in report.rounds if one.ruleset.startswith("dark-boxes"))
    deadline = asyncio.get_running_loop().time() + SETTLED_S
    report.contributions = await _contributions(casino)
    while report.contributions < wanted and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(_PAUSE_S)
        report.contributions = await _contributions(casino)
    if report.contributions != wanted:
        report.wrong.append(f"{report.contributions} rounds contributed to the jackpot, not {wanted}")
    with acting_as(PLATFORM):
        request = bonus_pb2.GetJackpotRequest(jackpot=JACKPOT)
        answer = accepted("ask for the jackpot", await casino.bonus.GetJackpot(request, timeout=_CALL_S))
    report.pool = answer.jackpot.pool
    async for content in contents_of(casino.jackpots, f"jackpot-{JACKPOT}"):
        event = parse_content(content)
        shares = event.payload.get("shares")
        if event.type == "JackpotHit" and isinstance(shares, list):
            for share in shares:
                player = str(share["player"])
                report.jackpots[player] = report.jackpots.get(player, 0) + int(share["amount"])


async def _contributions(casino: Casino) -> int:
    types = [parse_content(one).type async for one in contents_of(casino.jackpots, f"jackpot-{JACKPOT}")]
    return types.count("JackpotContributed")


async def _look_at_balances(
    casino: Casino, report: Report, players: Sequence[DemoPlayer], partner: Partner | None
) -> None:
    net: Counter[str] = Counter()
    for one in report.rounds:
        for player, (staked, returned) in one.settled.items():
            net[player] += returned - staked
    expected = {
        one.player: one.deposit - one.tipped + net[one.player] + report.jackpots.get(one.player, 0)
        for one in players
    }
    found = await _balances(casino, players, partner)
    deadline = asyncio.get_running_loop().time() + SETTLED_S
    while differing(expected, found) and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(_PAUSE_S)
        found = await _balances(casino, players, partner)
    report.wrong += differing(expected, found)
    report.accounts = {one.player: one.account for one in players if not one.elsewhere}
    report.paid_in = sum(one.deposit for one in players)
    report.cash = sum(cash for cash, _ in found.values())


def differing(expected: Mapping[str, int], found: Mapping[str, tuple[int, int]]) -> list[str]:
    """A sentence for each player whose cash is not what the log proves, or who has money held still."""
    problems = []
    for player, cash in expected.items():
        actual, held = found[player]
        if actual != cash:
            problems.append(f"{player} has {actual}, the rounds say {cash}")
        if held:
            problems.append(f"{player} has {held} held after the last round")
    return problems


async def _balances(
    casino: Casino, players: Sequence[DemoPlayer], partner: Partner | None
) -> dict[str, tuple[int, int]]:
    """Cash and what is held, by player; minor units."""
    elsewhere = [one.player for one in players if one.elsewhere]
    told: dict[str, int | None] = {}
    if partner is not None and elsewhere:
        told = await asyncio.to_thread(partner.balances, elsewhere, CURRENCY)
    gate = asyncio.Semaphore(16)

    async def ask(one: DemoPlayer) -> tuple[int, int]:
        if one.elsewhere:
            return told.get(one.player) or 0, 0
        async with gate:
            with acting_as(PLATFORM):
                answer = accepted(
                    "ask for a balance",
                    await casino.wallet.GetBalance(
                        wallet_pb2.GetBalanceRequest(account=one.account), timeout=_CALL_S
                    ),
                )
        return answer.found.balance.cash, answer.found.balance.held

    found = await asyncio.gather(*map(ask, players))
    return {one.player: balance for one, balance in zip(players, found, strict=True)}


def _look_at_alarms(fleet: Fleet, report: Report) -> None:
    for service, process in fleet.processes.items():
        try:
            metrics = process.metrics()
        except ServiceFailed as problem:
            report.wrong.append(str(problem))
            continue
        report.wrong += [
            f"{service}: {name} is {metrics[name]:g}" for name in _ALARMS if metrics.get(name, 0.0) != 0.0
        ]


def show(report: Report) -> None:
    """Print it."""
    say = sys.stdout.write
    say("\nWhat happened\n")
    by_ruleset: dict[str, list[RoundEvidence]] = {}
    for one in report.rounds:
        by_ruleset.setdefault(one.ruleset, []).append(one)
    for ruleset, rounds in sorted(by_ruleset.items()):
        bets, declined = sum(one.bets for one in rounds), sum(sum(one.declined.values()) for one in rounds)
        staked = sum(stake for one in rounds for stake, _ in one.settled.values())
        returned = sum(back for one in rounds for _, back in one.settled.values())
        cancelled = sum(one.cancelled is not None for one in rounds)
        say(
            f"  {ruleset:<14} {len(rounds):>3} rounds ({cancelled} cancelled)  {bets:>5} bets  "
            f"{declined:>4} declined  staked {money(staked)}  returned {money(returned)}\n"
        )
    say("\nBets and choices\n")
    for what, count in report.outcomes.most_common():
        say(f"  {count:>6}  {what}\n")
    events = sum(one.events for one in report.rounds)
    say("\nChecks\n")
    say(f"  {len(report.rounds)} rounds of {events} events were decided again from the log\n")
    won = sum(report.jackpots.values())
    say(f"  jackpot: {report.contributions} contributions, {money(report.pool)} in the pool, ")
    say(f"{money(won)} won by {len(report.jackpots)} players\n")
    say(f"  paid in {money(report.paid_in)}, players have {money(report.cash)} now\n")
    for sentence in report.agreements:
        say(f"  {sentence}\n")
    for problem in report.wrong:
        say(f"  WRONG  {problem}\n")
    say("\nEverything agrees.\n" if report.agreed else f"\n{len(report.wrong)} things DISAGREE.\n")


def money(minor: int) -> str:
    """An amount of the demonstration's currency."""
    return f"{minor / 100:,.2f} {CURRENCY}"
