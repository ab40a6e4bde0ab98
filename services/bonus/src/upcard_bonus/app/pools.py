"""Jackpots under lock: rounds are settled on them, corrected, held up and let through, in their order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from eventstore.postgres import Connection
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.ports import KeptJackpot, Result, Waiting
from upcard_bonus.app.recording import Origin
from upcard_bonus.app.round_facts import ruleset_of
from upcard_bonus.domain.fencing import lift
from upcard_bonus.domain.ids import jackpot_stream
from upcard_bonus.domain.jackpot import Jackpot, evolve
from upcard_bonus.domain.jackpot_events import (
    JackpotContributed,
    JackpotCorrected,
    JackpotEvent,
    JackpotHit,
    JackpotSeeded,
    LiftReason,
)
from upcard_bonus.domain.pool_corrections import PoolRound, correct_pool, pool_round
from upcard_bonus.domain.pool_rounds import SettledRound, Stake, in_order, settle_on_pool
from upcard_bonus.domain.secret_size import SECRET_BYTES

DRAINED_AT_ONCE: Final = 20
"""Most waiting rounds that one transaction lets through to a pool; the rest follows soon."""


@dataclass(frozen=True, slots=True)
class EndedRound:
    """A round whose results are complete: settled, or settled anew."""

    round: str
    jackpots: tuple[str, ...]
    cause_event: UUID
    correlation_id: str
    corrected: bool

    @property
    def origin(self) -> Origin:
        """What led to the events that follow."""
        return Origin("system", self.correlation_id, str(self.cause_event))


class Pools:
    """The jackpots of one transaction. Make it with `locked`; end with `store`."""

    def __init__(
        self, office: BonusOffice, connection: Connection, draft: Draft, kept: Mapping[str, KeptJackpot]
    ) -> None:
        self._office = office
        self._connection = connection
        self._draft = draft
        self._changed: dict[str, KeptJackpot] = {}
        self._rounds: dict[tuple[str, str], PoolRound] = {}
        self._queued: list[tuple[str, Waiting]] = []
        self._lifted: list[tuple[str, str]] = []
        self._settled: dict[str, dict[str, SettledRound]] = {}
        self.kept = kept
        """Those that there are, by id."""

    @classmethod
    async def locked(
        cls, office: BonusOffice, connection: Connection, draft: Draft, names: Collection[str]
    ) -> Pools:
        """Lock jackpots, all that this transaction needs, once."""
        return cls(office, connection, draft, await office.jackpots.lock(connection, names))

    async def load(self, names: Collection[str]) -> None:
        """Read the results of rounds that are going to be settled or corrected."""
        rounds = self._office.rounds
        wanted = [name for name in names if name not in self._settled]
        if not wanted:
            return
        records = await rounds.find(self._connection, wanted)
        results = await rounds.results(self._connection, wanted)
        for name in wanted:
            rows = ruleset_of(records[name].ruleset).bonus_player or ()
            by_currency: dict[str, list[Result]] = {}
            for result in results.get(name, ()):
                by_currency.setdefault(result.currency, []).append(result)
            self._settled[name] = {
                currency: SettledRound(name, in_order(map(_stake, those)), rows)
                for currency, those in by_currency.items()
            }

    async def end(self, ended: EndedRound) -> None:
        """Settle or correct a round on each of its jackpots; a pool that is held up lets it wait."""
        await self.load([ended.round])
        for name in sorted(ended.jackpots):
            kept = self.kept.get(name)
            if kept is None:
                continue
            if ended.corrected:
                await self._correct(kept, ended)
            elif kept.waiting or kept.state.fenced:
                self._queued.append((name, Waiting(ended.round, ended.cause_event, ended.correlation_id)))
                kept.waiting = True
            else:
                await self._settle(kept, ended.round, ended.origin)
            await self.drain(name)

    async def drain(self, name: str) -> None:
        """Let waiting rounds through, if no fence holds the pool up; the rest is left to the next caller."""
        kept = self.kept[name]
        if kept.state.fenced or not kept.waiting:
            return
        await self._write_queue()
        waiting, more = await self._office.jackpots.take_waiting(self._connection, name, DRAINED_AT_ONCE)
        await self.load({one.round for one in waiting})
        for one in waiting:
            origin = Origin("system", one.correlation_id, str(one.cause_event))
            await self._settle(kept, one.round, origin)
        kept.waiting = more

    def lift(self, name: str, round_name: str, why: LiftReason, origin: Origin) -> bool:
        """Lift a round's fence of a pool; False: none stands."""
        events = lift(self.kept[name].state, round_name, why)
        self.apply(self.kept[name], events, origin)
        if events:
            self._lifted.append((name, round_name))
        return bool(events)

    def apply(self, kept: KeptJackpot, events: Iterable[JackpotEvent], origin: Origin) -> None:
        """Give events their effect on a locked jackpot, and draft them."""
        events = tuple(events)
        for event in events:
            kept.state = evolve(kept.state, event)
            _watch(self._office, event)
        if events:
            self._changed[kept.state.jackpot] = kept
            self._draft.tell(jackpot_stream(kept.state.jackpot), events, origin)

    async def keep_secret(self, events: Iterable[JackpotEvent], secret: bytes) -> None:
        """Keep the secret of a cycle that one of these events begins."""
        for event in events:
            if isinstance(event, JackpotSeeded) and event.secret_size is not None:
                await self._office.vault.put(self._connection, event.jackpot, event.cycle, secret)

    async def store(self) -> None:
        """Store it all but the events."""
        jackpots, connection = self._office.jackpots, self._connection
        await self._write_queue()
        await self._write_rounds()
        await jackpots.drop_fences(connection, self._lifted)
        await jackpots.save(connection, list(self._changed.values()))

    async def _settle(self, kept: KeptJackpot, name: str, origin: Origin) -> None:
        settled = self._settled[name].get(kept.state.currency)
        if settled is None:
            return
        new_secret = self._office.recorder.random(SECRET_BYTES)
        events = settle_on_pool(kept.state, settled, await self._secret(kept.state), new_secret)
        did = pool_round(kept.rounds + 1, events)
        if did is None:
            return
        kept.rounds += 1
        self._rounds[kept.state.jackpot, name] = did
        await self.keep_secret(events, new_secret)
        self.apply(kept, events, origin)

    async def _correct(self, kept: KeptJackpot, ended: EndedRound) -> None:
        """A round that waits still is settled by its new results when its turn comes."""
        state, jackpots = kept.state, self._office.jackpots
        await self._write_rounds()
        before = await jackpots.pool_round(self._connection, state.jackpot, ended.round)
        settled = self._settled[ended.round].get(state.currency)
        if before is not None and settled is not None:
            change, hit_followed = await jackpots.since(self._connection, state.jackpot, before.place)
            corrected = correct_pool(
                state, before, settled, pool_then=state.pool - change, hit_followed=hit_followed
            )
            if corrected is not None:
                self._rounds[state.jackpot, ended.round] = corrected.now
                self.apply(kept, corrected.events, ended.origin)
        self.lift(state.jackpot, ended.round, "corrected", ended.origin)

    async def _secret(self, state: Jackpot) -> bytes | None:
        if state.size is None:
            return None
        return await self._office.vault.get(self._connection, state.jackpot, state.cycle)

    async def _write_queue(self) -> None:
        queued, self._queued = self._queued, []
        await self._office.jackpots.queue(self._connection, queued)

    async def _write_rounds(self) -> None:
        rounds, self._rounds = self._rounds, {}
        await self._office.jackpots.put_pool_rounds(
            self._connection, [(jackpot, did) for (jackpot, _), did in rounds.items()]
        )


async def end_rounds(
    office: BonusOffice, connection: Connection, draft: Draft, ended: Sequence[EndedRound]
) -> None:
    """Settle and correct rounds on their jackpots, in the order given."""
    names = {name for one in ended for name in one.jackpots}
    if not names:
        return
    pools = await Pools.locked(office, connection, draft, names)
    await pools.load({one.round for one in ended if one.jackpots})
    for one in ended:
        await pools.end(one)
    await pools.store()


def _stake(result: Result) -> Stake:
    return Stake(result.player, result.box, result.amount, result.share_percent)


def _watch(office: BonusOffice, event: JackpotEvent) -> None:
    match event:
        case JackpotContributed():
            office.watcher.contributed(event.currency, event.amount)
        case JackpotHit():
            office.watcher.hit(event.currency, event.kind, event.paid)
        case JackpotCorrected():
            office.watcher.corrected(event.currency, event.house)
        case _:
            pass
