"""`demo`: one round of each ruleset, played, explained and verified, to be read in a terminal."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from rules_core.command_line.play_command import bundle_of, seats
from rules_core.command_line.random_round import CURRENCY, RandomTable, random_round
from rules_core.command_line.streams import Streams
from rules_core.explain import explain, in_english
from rules_core.log.verify import verify_bundle
from rules_core.round.decide.settling import box_case
from rules_core.round.hands import card_at, dealer_five
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped, shipped_ids
from rules_core.settlement.model import Case, CaseError, Settlement
from rules_core.settlement.settle import settle

_COLUMNS: Final = 100
_PLAYERS: Final = 2


def run(options: Namespace, streams: Streams) -> int:
    """Show the rounds; each ruleset has a seed of its own, or all would be dealt the same cards."""
    for seed, name in enumerate(shipped_ids(), options.seed):
        streams.write("".join(f"{line}\n" for line in _round(shipped(name), seed)))
        streams.stdout.flush()
    return 0


def _round(ruleset: Ruleset, seed: int) -> Iterator[str]:
    table = random_round(ruleset, seed, seats(ruleset, _PLAYERS))
    title = f"{ruleset.title} ({ruleset.id})"
    yield title
    yield "=" * len(title)
    for line in in_english(explain(*settled_round(table)), scale=2, currency=CURRENCY).splitlines():
        yield from textwrap.wrap(line, _COLUMNS, subsequent_indent="    ") or [""]
    yield ""
    yield from textwrap.wrap(verify_bundle(bundle_of(table)).sentences()[0], _COLUMNS)
    yield f"Its bundle: python -m rules_core play --ruleset {ruleset.id} --seed {seed} --players {_PLAYERS}"
    yield ""


def settled_round(table: RandomTable) -> tuple[Case, Settlement]:
    """The settlement case that a settled round amounts to, and its result."""
    state, sealed = table.state, table.sealed
    draws = tuple(card_at(state, sealed, f"draw.{at}") for at in range(state.draws))
    boxes = tuple(
        box_case(state, sealed, play, seat.currency)
        for seat in map(state.seats.__getitem__, state.order)
        for play in seat.ordered()
    )
    case = Case(state.ruleset, dealer_five(state, sealed), draws, boxes)
    result = settle(case)
    if isinstance(result, CaseError):
        raise RuntimeError(f"a round was played that is no case: {result}")  # noqa: TRY004 - a broken invariant
    return case, result
