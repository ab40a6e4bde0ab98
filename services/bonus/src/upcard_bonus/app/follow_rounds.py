"""What the table's events do: the handler behind the consumer of `upcard.table.v1`."""

from __future__ import annotations

from collections.abc import Sequence

from eventstore import StreamAppend
from eventstore.postgres import Connection
from rules_core.round.events import RoundResettled, RoundSettled
from upcard_bonus.app.announcing import SideBets
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.pools import EndedRound, end_rounds
from upcard_bonus.app.round_facts import FOLLOWED, RoundFact
from upcard_bonus.app.using_free_bets import FreeBetUses


async def follow_rounds(
    office: BonusOffice, connection: Connection, facts: Sequence[RoundFact]
) -> Sequence[StreamAppend]:
    """Give events their effect, in the order given, in the caller's transaction; exactly once in effect.

    Returns the appends, each stream once: what a handler of `eventstore.following` returns. Events of types
    that are not followed have no effect.

    - Public cards decide B and D: `BonusDetermined`. A cancelled or refunded round: `BonusVoided`.
    - A stake that a free bet pays: `FreeBetUsed`; it comes back: `FreeBetReturned`.
    - `RoundSettled`: `JackpotContributed`, and hits in their order, of each jackpot of the table, unless a
      fence holds the pool up; `RoundResettled`: `JackpotCorrected`, and the round's fence is lifted.

    Jackpots are locked before free bets. Raises RoundUnknown (never, when events come in order),
    RulesetUnknown (upgrade this service first).
    """
    facts = [fact for fact in facts if type(fact.event).__name__ in FOLLOWED]
    if not facts:
        return ()
    draft = Draft(office.recorder)
    side_bets, free_bets = SideBets(office, draft), FreeBetUses(office, draft)
    await side_bets.load(connection, facts)
    for fact in facts:
        side_bets.apply(fact)
    await side_bets.store(connection)
    ended = [
        EndedRound(
            fact.round,
            side_bets.records[fact.round].jackpots,
            fact.event_id,
            fact.correlation_id,
            corrected=isinstance(fact.event, RoundResettled),
        )
        for fact in facts
        if isinstance(fact.event, RoundSettled | RoundResettled)
    ]
    await end_rounds(office, connection, draft, ended)
    await free_bets.load(connection, facts)
    for fact in facts:
        free_bets.apply(fact)
    await free_bets.store(connection)
    return draft.appends
