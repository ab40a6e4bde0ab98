"""The seamless purse: the port `Purse` for accounts whose money lies in a partner's wallet."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

import asyncpg

from eventstore.events import Appended, StreamAppend
from eventstore.postgres import SESSION_LOST, Pool
from eventstore.postgres.connections import Connection
from upcard_wallet.adapters.seamless import bets, planning, queue
from upcard_wallet.adapters.seamless.asking import PartnerAt, ask, outcome_of
from upcard_wallet.adapters.seamless.bets import Ending
from upcard_wallet.adapters.seamless.circuit import Circuit, begins_something
from upcard_wallet.adapters.seamless.committing import GroupCommitter
from upcard_wallet.adapters.seamless.faults import reach
from upcard_wallet.adapters.seamless.looking import BalanceDesk, standings
from upcard_wallet.adapters.seamless.observer import SeamlessObserver, Silent
from upcard_wallet.adapters.seamless.partner import NotSent, Refused, Verdict
from upcard_wallet.adapters.seamless.queue import Said
from upcard_wallet.adapters.seamless.storing import store
from upcard_wallet.app.partners import PartnerStanding
from upcard_wallet.app.ports import HoldExists
from upcard_wallet.app.purse import (
    HELD,
    UNKNOWN,
    AccountRef,
    BookKey,
    Credit,
    FreedHold,
    Heard,
    HoldGroup,
    HoldRecords,
    Outcome,
    PartnerCash,
    PlacingFailed,
    Refusal,
    SettledPlayer,
    refused,
)

_Key = tuple[str, str, str]
_DATABASE: Final = (asyncpg.PostgresError, *SESSION_LOST)
_FIRST_LOOK_S: Final = 0.02
_LONGEST_LOOK_S: Final = 0.25
_TRIES: Final = 5
_LEAST_S: Final = 0.02
"""A bet with less time left is not asked for: nobody could answer, and it would count as a failure."""
_NOT_ASKED: Final = NotSent("the partner's circuit is open", answer="not_asked")


@dataclass(slots=True)
class _Admitted:
    """What a batch is made of once its requests are durable."""

    outcomes: dict[_Key, Outcome] = field(default_factory=dict)
    """Known or decided at once."""
    to_ask: list[HoldGroup] = field(default_factory=list)
    to_await: list[HoldGroup] = field(default_factory=list)
    """Somebody else is asking for these, in this process or another."""


def _key(group: HoldGroup) -> _Key:
    return group.round, group.account.player, group.bet_id


class _Told:
    """What became of a batch's commands so far, told on at once; a command may stand in it twice."""

    def __init__(self, groups: Sequence[HoldGroup], heard: Heard | None) -> None:
        self.outcomes: dict[_Key, Outcome] = {}
        self._heard = heard
        self._places: dict[_Key, list[int]] = {}
        for place, group in enumerate(groups):
            self._places.setdefault(_key(group), []).append(place)

    def hear(self, key: _Key, outcome: Outcome) -> None:
        self.outcomes[key] = outcome
        if self._heard is not None:
            for place in self._places[key]:
                self._heard(place, outcome)


class SeamlessPurse:
    """See `Purse`. An async context manager: inside it bets are asked; `SeamlessWork` does the rest."""

    kind: Final = "seamless"
    limited: Final = False

    def __init__(
        self,
        pool: Pool,
        records: HoldRecords,
        partners: Mapping[str, PartnerAt],
        *,
        observer: SeamlessObserver | None = None,
        announce: Callable[[Sequence[Appended]], None] | None = None,
    ) -> None:
        """`partners` by operator; an operator without one is refused. `announce` wakes the log's readers."""
        self.pool = pool
        self.records = records
        self.partners: Mapping[str, PartnerAt] = dict(partners)
        self.observer = observer or Silent()
        self._announce = announce
        self._places = {
            operator: asyncio.Semaphore(at.settings.bets_at_once) for operator, at in partners.items()
        }
        self._under_way = dict.fromkeys(partners, 0)
        self.circuits = {operator: self._circuit(operator, at) for operator, at in partners.items()}
        self._balances = {
            operator: BalanceDesk(at, self.circuits[operator], self.observer)
            for operator, at in partners.items()
        }
        # One for each operator, so that nobody's trouble delays the others; the last one for the rest.
        self._endings: dict[str | None, GroupCommitter[tuple[Ending, Said | None], Outcome]] = {
            operator: GroupCommitter(self._end) for operator in (*partners, None)
        }
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for committer in self._endings.values():
            await self._stack.enter_async_context(committer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def cash_book(self, account: AccountRef) -> BookKey:
        """The operator's book: what the partner owes us is what is missing there."""
        return BookKey("operator", account.operator, account.currency)

    async def place(
        self, groups: Sequence[HoldGroup], deadline: float, heard: Heard | None = None
    ) -> Sequence[Outcome]:
        """Ask each group's partner: see `Purse`. One partner's slowness delays no other's record."""
        once = {_key(group): group for group in groups}
        told = _Told(groups, heard)
        admitted = await self._admit(once, deadline)
        for key, outcome in admitted.outcomes.items():
            told.hear(key, outcome)

        async def ask_one(group: HoldGroup) -> None:
            told.hear(_key(group), await self._ask(group, deadline))

        async with asyncio.TaskGroup() as tasks:
            for group in admitted.to_ask:
                tasks.create_task(ask_one(group))
            tasks.create_task(self._look(admitted.to_await, deadline, told))
        return [told.outcomes[_key(group)] for group in groups]

    async def cash_outside(self, account: AccountRef, within_s: float) -> PartnerCash | None:
        """Ask the partner: see `Purse`."""
        desk = self._balances.get(account.operator)
        if desk is None:
            return PartnerCash(None, Refusal.PARTNER)
        return await desk.ask(account, within_s)

    async def standings(self, connection: Connection) -> Sequence[PartnerStanding]:
        """How things stand with each partner: see `app.partners`."""
        return await standings(connection, self.partners, self.circuits, self._under_way)

    async def release(self, connection: Connection, holds: Sequence[FreedHold]) -> None:
        """Queue rollbacks: see `Purse`. A bet that is still being asked is not waited for."""
        entries = planning.entries_of_freed(holds)
        if not entries:
            return
        await queue.lock_lanes(connection, [entry.lane for entry in entries])
        open_bets = [entry.waits_for for entry in entries if entry.waits_for is not None]
        if open_bets:
            await bets.abandon(connection, open_bets)
        await queue.enqueue(connection, entries)

    async def settle(self, connection: Connection, settled: Sequence[SettledPlayer]) -> None:
        """Queue wins and rollbacks of wins: see `Purse`."""
        if not settled:
            return
        lanes = [planning.lane_of_settled(one) for one in settled]
        told = dict(await queue.lock_lanes(connection, lanes))
        standing = await queue.standing_wins(connection, list(told))
        entries = []
        for lane, one in zip(lanes, settled, strict=True):
            before = told[lane.lane]
            if one.revision > before:
                entries += planning.entries_of_revision(one, standing[lane.lane], first=before == 0)
                told[lane.lane] = one.revision
        await queue.note_revisions(connection, told)
        await queue.enqueue(connection, entries)

    async def credit(self, connection: Connection, items: Sequence[Credit]) -> None:
        """Queue wins outside of settlements: see `Purse`."""
        entries = [planning.entry_of_credit(one) for one in items]
        await queue.lock_lanes(connection, [entry.lane for entry in entries])
        await queue.enqueue(connection, entries)

    async def give_up_overdue(self, limit: int = 200) -> int:
        """End bets that nobody waits for any more, as `unknown`, with a rollback; how many there were.

        These are bets of processes that died, or whose answer could not be recorded in time.
        """
        async with self.pool.acquire() as connection:
            groups = await bets.overdue(connection, limit=limit)
        await asyncio.gather(*(self._put(Ending(group, UNKNOWN), None) for group in groups))
        for operator in {group.account.operator for group in groups}:
            self.observer.abandoned(operator, sum(group.account.operator == operator for group in groups))
        return len(groups)

    def _circuit(self, operator: str, at: PartnerAt) -> Circuit:
        self.observer.circuit(operator, "closed")
        return Circuit(at.settings, changed=lambda state: self.observer.circuit(operator, state))

    async def _admit(self, groups: Mapping[_Key, HoldGroup], deadline: float) -> "_Admitted":
        loop = asyncio.get_running_loop()
        pause_s = _FIRST_LOOK_S
        admits: dict[_Key, bool] = {}
        try:
            async with asyncio.timeout_at(deadline):
                for _ in range(_TRIES - 1):
                    try:
                        return await self._admit_once(groups, deadline - loop.time(), admits)
                    except (HoldExists, asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError):
                        await asyncio.sleep(pause_s)
                        pause_s *= 2
                return await self._admit_once(groups, deadline - loop.time(), admits)
        except (*_DATABASE, HoldExists) as error:
            raise PlacingFailed(
                f"{type(error).__name__}: nothing is known of {len(groups)} commands"
            ) from error

    def _admits(self, key: _Key, group: HoldGroup, admits: dict[_Key, bool]) -> bool:
        """Whether its partner's circuit lets a group in: asked once, since the group may be the probe."""
        if not begins_something(group):
            return True
        if key not in admits:
            admits[key] = self.circuits[group.account.operator].admits()
        return admits[key]

    async def _admit_once(
        self, groups: Mapping[_Key, HoldGroup], remaining_s: float, admits: dict[_Key, bool]
    ) -> "_Admitted":
        admitted = _Admitted()
        direct: list[Ending] = []
        async with self.pool.acquire() as connection, connection.transaction():
            admissions, appends = await self.records.request(connection, list(groups.values()))
            for (key, group), admission in zip(groups.items(), admissions, strict=True):
                if admission.outcome is not None:
                    admitted.outcomes[key] = admission.outcome
                elif admission.state == "known":
                    admitted.to_await.append(group)
                elif group.cash == 0:
                    direct.append(Ending(group, HELD))  # free bets lie in our own ledger
                elif group.account.operator not in self.partners:
                    direct.append(Ending(group, refused(Refusal.UNAVAILABLE)))
                elif not self._admits(key, group, admits):
                    direct.append(Ending(group, outcome_of(_NOT_ASKED)))
                else:
                    admitted.to_ask.append(group)
            abandoned_in_s = remaining_s + self._margin_s(admitted.to_ask)
            await bets.write_asking(connection, admitted.to_ask, abandoned_in_s=abandoned_in_s)
            more: Sequence[StreamAppend] = ()
            if direct:
                recorded, more = await bets.end_bets(connection, self.records, direct)
                admitted.outcomes.update(
                    {_key(ending.group): one for ending, one in zip(direct, recorded, strict=True)}
                )
            appended = await store(connection, appends, more)
        self.wake_readers(appended)
        reach("seamless.requested")
        return admitted

    def _margin_s(self, groups: Sequence[HoldGroup]) -> float:
        return max(
            (self.partners[group.account.operator].settings.answer_margin_s for group in groups), default=0.0
        )

    async def _ask(self, group: HoldGroup, deadline: float) -> Outcome:
        verdict, said = await self._verdict(group, deadline)
        reach("seamless.answered")
        # Nobody waits for ever for a database that does not answer. What is recorded then is found by asking
        # again, and what is not is rolled back.
        limit = deadline + self._margin_s([group]) / 2
        try:
            async with asyncio.timeout_at(limit):
                outcome = await self._put(self._ending(group, verdict), said)
        except Exception as error:  # noqa: BLE001 - one group's trouble is not the others'
            self.observer.failed("recording a bet", error, 0.0)
            return UNKNOWN
        reach("seamless.posted")
        return outcome

    async def _put(self, ending: Ending, said: Said | None) -> Outcome:
        operator = ending.group.account.operator
        committer = self._endings[operator if operator in self._endings else None]
        return await committer.put((ending, said))

    def _ending(self, group: HoldGroup, verdict: Verdict) -> Ending:
        distrusts = self.partners[group.account.operator].settings.roll_back_refused
        undone = isinstance(verdict, Refused) and (distrusts or verdict.partly)
        return Ending(group, outcome_of(verdict), distrusted=undone)

    async def _verdict(self, group: HoldGroup, deadline: float) -> tuple[Verdict, Said | None]:
        loop = asyncio.get_running_loop()
        operator = group.account.operator
        at, places, circuit = self.partners[operator], self._places[operator], self.circuits[operator]
        try:
            async with asyncio.timeout_at(deadline):
                await places.acquire()
        except TimeoutError:
            return NotSent("too many bets under way"), None
        try:
            remaining_s = deadline - loop.time()
            if remaining_s <= _LEAST_S:
                return NotSent("too late to ask"), None
            if circuit.state == "open" and begins_something(group):
                return _NOT_ASKED, None  # it opened while this one waited
            self._under_way[operator] += 1
            try:
                verdict, said = await ask(at.partner, bets.call_of(group), remaining_s, self.observer)
            finally:
                self._under_way[operator] -= 1
            circuit.answered(verdict)
            return verdict, said
        finally:
            places.release()

    async def _look(self, groups: Sequence[HoldGroup], deadline: float, told: "_Told") -> None:
        loop = asyncio.get_running_loop()
        pause_s = _FIRST_LOOK_S
        waiting = list(groups)
        while waiting and loop.time() < deadline:
            try:
                async with asyncio.timeout_at(deadline), self.pool.acquire() as connection:
                    recorded = await self.records.outcomes(connection, waiting)
            except _DATABASE:
                recorded = {}
            for key, outcome in recorded.items():
                if outcome is not None:
                    told.hear(key, outcome)
            waiting = [group for group in waiting if recorded.get(_key(group)) is None]
            if waiting:
                await asyncio.sleep(min(pause_s, max(deadline - loop.time(), 0.0)))
                pause_s = min(2 * pause_s, _LONGEST_LOOK_S)
        for group in waiting:
            told.hear(_key(group), UNKNOWN)

    async def _end(self, items: Sequence[tuple[Ending, Said | None]]) -> Sequence[Outcome]:
        async with self.pool.acquire() as connection, connection.transaction():
            recorded, appends = await bets.end_bets(connection, self.records, [ending for ending, _ in items])
            await queue.note_answers(connection, [said for _, said in items if said is not None])
            appended = await store(connection, appends)
        self.wake_readers(appended)
        return recorded

    def wake_readers(self, appended: Sequence[Appended]) -> None:
        """Tell the log's readers, after a commit."""
        if self._announce is not None and appended:
            self._announce(appended)
