"""A shared round of many players, decided, settled, folded and verified.

    python benchmarks/bench_round.py [--quick]

Prints seconds and ratios of one run; a timing never decides anything here.
"""

from __future__ import annotations

import argparse
import gc
import math
import resource
import sys
import time
from dataclasses import dataclass, field

from rules_core.cards import Card, parse_cards
from rules_core.command_line.random_round import DURATIONS, limits_for, random_round
from rules_core.engine import ENGINE
from rules_core.log.bundle import Bundle, bundle_bytes, recorded, stream_part
from rules_core.log.content import parse_content
from rules_core.log.report import Report
from rules_core.log.verify import verify_bundle
from rules_core.round import commands as c
from rules_core.round.codec import event_of
from rules_core.round.decide import decide
from rules_core.round.driver import next_step
from rules_core.round.events import CardScanned, RoundEvent
from rules_core.round.evolve import evolve, fold
from rules_core.round.places import deal_order
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids

PASSES = 5
RULESET = "live-shared@1"
BOX_CARDS = parse_cards("9s 9h 5d 4c 2d")
DEALER = parse_cards("Qs Jd 8h 6c 3d")
SIDE_BOXES = {1: parse_cards("Ah Ad Kc Th 6d"), 3: parse_cards("Jh Jc 4s 4d 6s")}
SWITCH = parse_cards("9d Kd 7s 4h 2c")
DRAW = parse_cards("8s")
T0 = "2026-01-01T00:00:00.000000Z"
T1 = "2026-01-01T00:00:01.000000Z"
LATE = "2026-01-01T01:00:00.000000Z"


@dataclass(slots=True)
class Table:
    """A table with a script instead of a shoe."""

    state: RoundState
    sealed: Sealed = field(default_factory=Sealed)
    events: list[RoundEvent] = field(default_factory=list)

    def do(self, command: c.Command) -> None:
        """Decide and fold; a refusal is a mistake of this script."""
        decided = decide(command, self.state, self.sealed)
        if isinstance(decided, Refusal):
            sys.exit(f"refused: {decided.code}: {decided.message} ({command})")
        for event in decided:
            if isinstance(command, c.ScanCard) and isinstance(event, CardScanned) and event.commitment:
                assert command.card is not None
                assert command.card_salt is not None
                self.sealed.add(command.card, command.card_salt)
            evolve(self.state, event)
            self.events.append(event)

    def lay(self, by_place: dict[str, Card]) -> None:
        """Lay every awaited card."""
        while self.state.awaited:
            place = self.state.awaited[0]
            salt = f"{len(self.events):032x}"
            self.do(c.ScanCard(f"s{salt}", by_place[place], salt))


def places() -> dict[str, Card]:
    """Which card lies where."""
    hands = {2: BOX_CARDS, **SIDE_BOXES}
    found = {f"box.{box}.{i}": card for box, cards in hands.items() for i, card in enumerate(cards)}
    found |= {f"dealer.{i}": card for i, card in enumerate(DEALER)}
    found |= {f"switch.{i}": card for i, card in enumerate(SWITCH)}
    assert set(deal_order((1, 2, 3))) <= set(found)
    return {**found, "draw.0": DRAW[0]}


def play(players: int) -> tuple[Table, float]:
    """Each player: bet, option, final option, purchase; then the settlement."""
    ruleset = shipped(RULESET)
    table = Table(new_round(ruleset))
    laid = places()
    names = [f"player-{number:06d}" for number in range(players)]
    started = time.perf_counter()
    table.do(c.OpenRound(T0, "t1", 1, ruleset.id, ruleset.sha256, ENGINE, (limits_for(ruleset),), DURATIONS))
    for name in names:
        table.do(c.PlaceBet(name, "EUR", f"b{name}", (c.Placement(2, "ante", 100),), T1))
    table.do(c.CloseBetting(LATE))
    table.lay(laid)
    table.do(c.ConfirmCards(LATE, "system"))
    for number, name in enumerate(names):
        kind = ("bet", "sixth", "exchange")[number % 3]
        positions = (2, 3, 4)[: 1 + number % 2] if kind == "exchange" else ()
        table.do(c.ChooseOption(name, 2, kind, LATE, positions, f"o{name}"))  # type: ignore[arg-type]  # three of the literals
    table.do(c.CloseOptions(LATE))
    table.lay(laid)
    table.do(c.ConfirmCards(LATE, "system"))
    for number, name in enumerate(names):
        if number % 3:
            table.do(c.ChooseFinalOption(name, 2, "bet", LATE, 100 if number % 2 else 0, f"f{name}"))
    table.do(c.CloseFinalOptions(LATE))
    table.do(c.Proceed(LATE))
    table.do(c.Proceed(LATE))
    for name in names:
        table.do(c.MakePurchase(name, 2, f"p{name}", LATE))
    table.do(c.ClosePurchase(LATE))
    table.lay(laid)
    table.do(c.ConfirmCards(LATE, "system"))
    while next_step(table.state, table.sealed) == "settle":
        table.do(c.Settle())
    return table, time.perf_counter() - started


def bench_players(counts: tuple[int, ...]) -> None:
    """Seconds against players; linear when the last column stays level."""
    print(f"{'players':>8} {'events':>8} {'seconds':>8} {'us/player':>10} {'peak MiB':>9}")
    for players in counts:
        table, seconds = play(players)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rate = seconds / players * 1e6
        print(f"{players:8d} {len(table.events):8d} {seconds:8.3f} {rate:10.1f} {peak:9.0f}")


def bench_fold(players: int) -> None:
    """Decoded events folded a second."""
    table, _ = play(players)
    ruleset = shipped(RULESET)
    started = time.perf_counter()
    fold(new_round(ruleset), table.events)
    seconds = time.perf_counter() - started
    print(f"fold: {len(table.events) / seconds:,.0f} events/s ({len(table.events)} events)")


def bench_verify(rounds: int, players: int) -> None:
    """Bundles verified a second: bytes, chain, commitments, every decision again."""
    for rid in shipped_ids():
        ruleset = shipped(rid)
        seats = players if ruleset.shared else ruleset.boxes
        files: list[bytes] = []
        reports: list[Report] = []
        for seed in range(rounds):
            table = random_round(ruleset, seed, seats)
            part = stream_part(table.stream, [recorded(data) for data in table.contents])
            files.append(bundle_bytes(Bundle(None, ENGINE, ruleset_object(ruleset), part)))
        gc.collect()
        gc.freeze()  # what was made for the measurement is no garbage of the thing measured
        # The best of five: what the machine does besides only ever adds. Seconds of one core.
        seconds = math.inf
        for _ in range(PASSES):
            started = time.process_time()
            reports = [verify_bundle(data) for data in files]
            seconds = min(seconds, time.process_time() - started)
        events = sum(report.events for report in reports)
        assert all(report.exit_code == 0 for report in reports)
        print(
            f"verify {rid}: {events / seconds:,.0f} events/s, {rounds / seconds:,.0f} rounds/s "
            f"({seats} players, {events / rounds:.0f} events a round)"
        )


def bench_decode(players: int) -> None:
    """Recorded bytes to folded state."""
    table = random_round(shipped(RULESET), 1, players)
    started = time.perf_counter()
    state = new_round(shipped(RULESET))
    for data in table.contents:
        content = parse_content(data)
        evolve(state, event_of(content.type, content.version, content.payload))
    seconds = time.perf_counter() - started
    print(f"parse, decode and fold: {len(table.contents) / seconds:,.0f} events/s")


def main() -> None:
    """Run everything, or little of it with --quick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: proves that the benchmark runs")
    quick = parser.parse_args().quick
    bench_players((100, 1_000) if quick else (100, 1_000, 10_000))
    bench_fold(200 if quick else 5_000)
    bench_decode(200 if quick else 1_000)
    bench_verify(5 if quick else 100, 10)


if __name__ == "__main__":
    main()
