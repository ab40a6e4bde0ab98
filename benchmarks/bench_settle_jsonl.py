"""`settle --jsonl`: one-box cases settled a second by the program, its start included.

    python benchmarks/bench_settle_jsonl.py [--quick]

The cases are random and legal, of all rulesets, all different: options, insurance, purchases and bonuses as
a table would see them. Prints figures of one run; a timing never decides anything here.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from rules_core.canonical import parse_strict
from rules_core.cards import DECK, Card
from rules_core.command_line.quick_json import parse_quickly, result_line
from rules_core.command_line.settle_command import answer
from rules_core.hands import evaluate
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.case_json import case_object, parse_case
from rules_core.settlement.dealer import draws_needed
from rules_core.settlement.insurance import insurance_bounds
from rules_core.settlement.model import BoxCase, Case, Final, Option, Settlement, Wagers
from rules_core.settlement.option import final_cards
from rules_core.settlement.purchase import purchase_refusal
from rules_core.settlement.settle import settle

SEED = 311_875_200
PROGRAM = [sys.executable, "-m", "rules_core"]


def random_case(dice: random.Random, ruleset: Ruleset) -> Case:
    """One box of a ruleset, played in a legal way."""
    deck = dice.sample(DECK, 20)
    dealer, cards, bought, shoe = tuple(deck[:5]), tuple(deck[5:10]), tuple(deck[10:15]), deck[15:]
    blind = dice.random() < 0.2 and any(kind != "open" for kind in ruleset.box_kinds)
    number = next(at for at in range(1, ruleset.boxes + 1) if ruleset.box_may_be(at, blind=blind))
    option = Option("none") if blind else random_option(dice, ruleset, bought)
    folded = option.kind == "fold" or (not blind and option.kind != "bet" and dice.random() < 0.2)
    final: Final | None = None
    if not blind and option.kind != "fold":
        final = "fold" if folded else "bet"
    ante = dice.randrange(1, 101) * 100
    hand = evaluate(final_cards(cards, option), ruleset.paired_straight)
    insurance = 0
    if not (blind or folded or option.kind == "none"):
        bounds = insurance_bounds(ruleset, hand, ante, 1_000_000)
        insurance = dice.randint(bounds.min, bounds.max) if bounds else 0
    purchase = not evaluate(dealer).qualifies and dice.random() < 0.5
    if purchase:
        purchase = not purchase_refusal(
            ruleset, blind=blind, insured=insurance > 0, folded=folded, qualifies=hand.qualifies
        )
    draws: tuple[Card, ...] = ()
    while purchase and draws_needed(ruleset, dealer, draws):
        draws = (*draws, shoe.pop())
    wagers = Wagers(ante, 100 if ruleset.bonus_player else 0, 50 if ruleset.bonus_dealer else 0)
    player = f"p{dice.randrange(10_000)}"
    box = BoxCase(number, player, blind, cards, option, final, insurance, purchase, wagers, 1_000_000)
    return Case(ruleset, dealer, draws, (box,))


def random_option(dice: random.Random, ruleset: Ruleset, bought: tuple[Card, ...]) -> Option:
    """What an open box does first."""
    kind = dice.choices(("bet", "sixth", "exchange", "fold", "none"), (35, 25, 30, 7, 3))[0]
    if kind == "sixth":
        return Option("sixth", (), bought[:1])
    if kind == "exchange":
        count = dice.randint(1, ruleset.exchange_max)
        return Option("exchange", tuple(dice.sample(range(5), count)), bought[:count])
    return Option(kind)  # type: ignore[arg-type]  # one of the other three


def lines(count: int) -> Iterator[bytes]:
    """The cases as lines of input."""
    dice = random.Random(SEED)
    rulesets = [shipped(name) for name in shipped_ids()]
    for at in range(count):
        yield json.dumps(case_object(random_case(dice, rulesets[at % len(rulesets)]))).encode() + b"\n"


def show_program(cases: list[bytes]) -> None:
    """Time the program as a user would, on a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "cases", Path(folder) / "results"
        source.write_bytes(b"".join(cases))
        start = perf_counter()
        with source.open("rb") as stdin, result.open("wb") as stdout:
            subprocess.run([*PROGRAM, "settle", "--jsonl"], stdin=stdin, stdout=stdout, check=True)
        taken = perf_counter() - start
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        answers = result.read_bytes().splitlines()
    assert len(answers) == len(cases)
    assert not any(answer.startswith(b'{"error"') for answer in answers)
    print(f"settle --jsonl, start included{len(cases) / taken:>12,.0f} boxes/s  ({taken:.2f} s)")
    seconds = spent.ru_utime + spent.ru_stime
    print(f"  on a core of its own        {len(cases) / seconds:>12,.0f} boxes/s  ({seconds:.2f} s of CPU)")


def show_start(turns: int) -> None:
    """Time the program with nothing to do."""
    for arguments in (["settle", "--jsonl"], ["evaluate", "Ah Ad Kc 7s 3d"]):
        quickest = float("inf")
        for _ in range(turns):
            start = perf_counter()
            subprocess.run([*PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True)
            quickest = min(quickest, perf_counter() - start)
        print(f"start and end of {arguments[0]:18}{quickest * 1000:>10.0f} ms")


def show_steps(cases: list[bytes], turns: int) -> None:
    """Where the time of one case goes."""
    objects = [parse_strict(case) for case in cases]
    parsed = [parse_case(found) for found in objects]
    assert all(isinstance(case, Case) for case in parsed)
    results = [settle(case) for case in parsed if isinstance(case, Case)]
    assert all(isinstance(result, Settlement) for result in results)
    steps: list[tuple[str, Callable[[Any], object], Sequence[Any]]] = [
        ("read JSON", parse_quickly, cases),
        ("read the case", parse_case, objects),
        ("settle", settle, parsed),
        ("write JSON", result_line, results),
        ("all together", answer, cases),
    ]
    for name, step, given in steps:
        print(f"  {name:18}{cost_us(step, given, turns):>14.1f} us a case")


def cost_us(step: Callable[[Any], object], given: Sequence[Any], turns: int) -> float:
    """Processor time of a step, its quickest turn, in microseconds a case."""
    quickest = float("inf")
    for _ in range(turns):
        start = process_time()
        for item in given:
            step(item)
        quickest = min(quickest, process_time() - start)
    return quickest / len(given) * 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; timings are shown, never judged."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few cases: only proves that it runs")
    quick = parser.parse_args(arguments).quick
    cases = list(lines(1_000 if quick else 100_000))
    print(f"{len(cases):,} random one-box cases, {sum(map(len, cases)) // len(cases)} bytes each")
    show_program(cases)
    show_start(2 if quick else 10)
    show_steps(cases[:1_000] if quick else cases[:10_000], 2 if quick else 5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
