"""Checking a round for one player when other players' events are withheld (CONTRACTS.md section 2, Bundle).

Whatever this player did and got is decided again; of what the table did for all, the part that concerns this
player and whether it could come when it came.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules_core.log.difference import Difference
from rules_core.log.engines import Engine
from rules_core.log.partial_order import MAY_BE_WITHHELD, check_order
from rules_core.log.partial_run import PartialReplay, Shown, again, equals, rest_withheld
from rules_core.log.partial_table import TABLE_CHECKS
from rules_core.round import events as e
from rules_core.round.command_of import Fact
from rules_core.round.decide.finals import default_choice
from rules_core.round.sealed import Sealed, SealMissingError
from rules_core.rulesets.model import Ruleset

_UNFUNDED = {"bet_not_funded": "refused", "wallet_unavailable": "unavailable"}


def check_partial(
    engine: Engine, ruleset: Ruleset, facts: Sequence[Fact | None], sealed: Sealed, player: str
) -> PartialReplay:
    """Check the shown events of a round for `player`; None stands for a withheld one."""
    run = PartialReplay(engine.new_round(ruleset), player, sealed, engine)
    for position, fact in enumerate(facts, 1):
        if fact is None:
            if run.due and not run.due & MAY_BE_WITHHELD:
                run.difference = Difference(
                    position, "a withheld event", "type", " or ".join(sorted(run.due)), ""
                )
                return run
            run.last, run.due = "", frozenset()
            continue
        shown = Shown(position, fact)
        run.difference = _check_safely(run, shown)
        if run.difference is not None:
            return run
        run.seen.add(shown.type)
        run.last = shown.type
        engine.evolve(run.state, fact.event)
    return run


def _check_safely(run: PartialReplay, shown: Shown) -> Difference | None:
    try:
        return check_order(run, shown) or _check(run, shown)
    except SealMissingError:
        return shown.differs("payload", "a face-down card that it rests on", "never opened")
    except (LookupError, ValueError, TypeError):
        # The state holds shown facts alone, so these can come from nothing but values that do not fit them.
        return shown.differs("payload", "values that fit the round", "impossible ones")


def _check(run: PartialReplay, shown: Shown) -> Difference | None:
    event = shown.event
    if getattr(event, "player", None) == run.player and not isinstance(event, e.PlayerSettled):
        return _own_default(run, shown) if getattr(event, "by", None) == "platform" else again(run, shown)
    check = TABLE_CHECKS.get(type(event))
    if check is not None:
        return check(run, shown)
    rest_withheld(run, shown)
    return None


def _own_default(run: PartialReplay, shown: Shown) -> Difference | None:
    """The platform's choice for this player's box, after the cut-off."""
    event, window = shown.event, run.state.window
    run.defaulted = True
    play = run.own().get(event.box)
    if play is None or window is None or (event.box, run.player) not in run.state.undecided:
        return shown.differs("payload.box", "a box of this player that is asked", event.box)
    if isinstance(event, e.PurchaseDeclined):
        return equals(run, e.PurchaseDeclined(run.player, event.box, "platform"), shown, "platform")
    unfunded = _UNFUNDED.get(event.reason or "")
    expected = default_choice(run.state, run.sealed, play, {}, unfunded)
    return equals(run, expected, shown, "platform")
