"""Opening a round: the table's owner fills in what the table says."""

from __future__ import annotations

from rules_core.engine import ENGINE
from rules_core.round import commands as c
from rules_core.round.decide import decide
from rules_core.round.refusal import Refusal, refuse
from upcard_table.app.calls import Done, OpenRoundWork, Refused, Result
from upcard_table.app.owner.draft import Draft
from upcard_table.app.owner.memory import Memory
from upcard_table.app.rounds.live import begin_round
from upcard_table.domain.config import ruleset_of
from upcard_table.domain.decide import check_dealer, deck_for_round, may_open_round
from upcard_table.domain.words import round_stream


def open_round(memory: Memory, draft: Draft, work: OpenRoundWork, cause: str | None) -> Result:
    """Open the next round: number, rules, limits, times and deck are the table's. Or why it cannot be."""
    by = work.by
    last = memory.last_round()
    if cause is not None and memory.last is not None:
        again = memory.last.outcomes.of_cause(cause)
        if again:
            return Done(again, memory.last_number)
    found = check_dealer(memory.state, by.actor) or may_open_round(memory.state, last)
    config = memory.state.config
    if found is not None or config is None:
        return Refused(found or refuse("table_unknown", "open the table first"))
    number = last.number + 1
    ruleset = ruleset_of(config)
    live = begin_round(memory.table, number, round_stream(memory.table, number), ruleset)
    command = c.OpenRound(
        draft.now.text,
        memory.table,
        number,
        ruleset.id,
        ruleset.sha256,
        ENGINE,
        config.limits,
        config.durations,
        deck_for_round(memory.state, last),
        by.actor if by.actor.startswith(("dealer:", "staff:")) else "system",
    )
    decided = decide(command, live.state, live.sealed)
    if isinstance(decided, Refusal):
        return Refused(decided)
    live.correlation_id = by.correlation_id
    memory.rounds[number] = live
    memory.last_number = number
    draft.opened_round = number
    return Done(draft.record_round(live, command, decided, by.correlation_id, cause), number)
