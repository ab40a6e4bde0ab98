"""A wallet with a real seamless purse and real partners over HTTP, spoken to in few words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self
from uuid import UUID

from eventstore.postgres import Pool, PostgresEventStore
from tests.wallet.ledger.world import World
from tests.wallet.partner import SECRET, PartnerServer
from upcard_wallet.adapters.seamless.asking import PartnerAt
from upcard_wallet.adapters.seamless.http_partner import HttpPartner
from upcard_wallet.adapters.seamless.partner import CallKind, Verdict
from upcard_wallet.adapters.seamless.purse import SeamlessPurse
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.adapters.seamless.standing import rounds_with_partners
from upcard_wallet.adapters.seamless.work import SeamlessWork
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.purse import AccountRef

QUICK = PartnerSettings(
    queue_timeout_s=4.0,
    claim_margin_s=2.0,
    answer_margin_s=5.0,
    first_pause_s=0.05,
    longest_pause_s=0.2,
    confirm_after_s=0.1,
    down_pause_s=0.1,
)
"""Times of tests: nothing here waits for long."""
QUIET_WITHIN_S = 40.0


@dataclass
class Told:
    """An observer who remembers."""

    verdicts: list[tuple[str, CallKind, Verdict]] = field(default_factory=list)
    parked_calls: list[tuple[str, UUID, str]] = field(default_factory=list)
    circuits: list[tuple[str, str]] = field(default_factory=list)
    abandoned_bets: int = 0
    pauses: int = 0
    failures: list[tuple[str, BaseException]] = field(default_factory=list)

    def answered(self, operator: str, kind: CallKind, verdict: Verdict, took_s: float) -> None:
        assert took_s >= 0
        self.verdicts.append((operator, kind, verdict))

    def parked(self, operator: str, call: UUID, kind: CallKind, reason: str) -> None:
        assert kind != "bet"
        self.parked_calls.append((operator, call, reason))

    def abandoned(self, operator: str, groups: int) -> None:
        assert operator
        self.abandoned_bets += groups

    def circuit(self, operator: str, state: Literal["closed", "open", "probing"]) -> None:
        self.circuits.append((operator, state))

    def paused(self, operator: str, pause_s: float) -> None:
        assert operator
        assert pause_s > 0
        self.pauses += 1

    def failed(self, where: str, error: BaseException, pause_s: float) -> None:
        assert pause_s >= 0
        self.failures.append((where, error))


class SeamlessWorld(World):
    """A `World` whose seamless accounts lie with partners: one an operator."""

    def __init__(
        self,
        pool: Pool,
        store: PostgresEventStore,
        servers: Mapping[str, PartnerServer],
        settings: PartnerSettings = QUICK,
    ) -> None:
        super().__init__(pool, store)
        self.servers = dict(servers)
        self.settings = settings
        self.told = Told()
        self._stack = AsyncExitStack()
        self._work: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    @property
    def server(self) -> PartnerServer:
        """The partner of `op1`."""
        return self.servers["op1"]

    async def __aenter__(self) -> Self:
        partners = {
            operator: PartnerAt(await self._stack.enter_async_context(partner), self.settings)
            for operator, partner in self.partners().items()
        }
        self.seamless = await self._stack.enter_async_context(
            SeamlessPurse(self.pool, self.records, partners, observer=self.told, announce=self.store.announce)
        )
        purses: Any = self.wallet.purses
        purses["seamless"] = self.seamless
        return self

    def partners(self) -> dict[str, HttpPartner]:
        """Who speaks to each operator's partner."""
        return {operator: HttpPartner(server.address, SECRET) for operator, server in self.servers.items()}

    async def __aexit__(self, *_: object) -> None:
        await self.stop_work()
        await self._stack.aclose()

    def distrust(self, operator: str) -> None:
        """From now on, roll back what this partner refuses."""
        at = self.seamless.partners[operator]
        partners: Any = self.seamless.partners
        partners[operator] = replace(at, settings=replace(at.settings, roll_back_refused=True))

    def start_work(self) -> None:
        """Begin to tell partners what is queued."""
        self._ending = asyncio.Event()
        work = SeamlessWork(self.seamless, look_every_s=0.02)
        self._work = asyncio.create_task(work.run(self._ending))

    async def stop_work(self) -> None:
        """Stop in order."""
        self._ending.set()
        work, self._work = self._work, None
        if work is not None:
            async with asyncio.timeout(QUIET_WITHIN_S):
                await work

    async def guest(
        self, name: str = "p1", money: int = 0, *, operator: str = "op1", currency: str = "EUR"
    ) -> str:
        """A seamless account whose player has money at the partner. Its id."""
        account = f"{name}-{currency}"
        command = OpenAccount(account, name, operator, currency, "seamless")
        assert isinstance(await self.do(open_account, command), AccountRef)
        self.servers[operator].give(name, money, currency)
        return account

    async def open_calls(self) -> int:
        """Lanes that wait, and bets without an end."""
        return int(
            await self.value(
                "SELECT (SELECT count(*) FROM wallet.partner_lanes WHERE state = 'waiting')"
                " + (SELECT count(*) FROM wallet.partner_calls WHERE state = 'asking')"
            )
        )

    async def quiet(self) -> None:
        """Wait until everything is told that can be told."""
        async with asyncio.timeout(QUIET_WITHIN_S):
            while await self.open_calls():  # noqa: ASYNC110 - it happens in the database
                await asyncio.sleep(0.02)

    async def until(self, query: str, *arguments: object) -> None:
        """Wait until a query says true."""
        async with asyncio.timeout(QUIET_WITHIN_S):
            while not await self.value(query, *arguments):  # noqa: ASYNC110 - likewise, in the database
                await asyncio.sleep(0.02)

    async def calls(self, *, lane: str = "t1.1") -> list[tuple[str, str, int]]:
        """All calls of a round in their order: kind, state, total."""
        rows = await self.pool.fetch(
            "SELECT c.kind, c.state, c.total FROM wallet.partner_calls AS c"
            " JOIN wallet.partner_lanes AS l USING (lane)"
            " WHERE l.round = $1 ORDER BY l.account, c.number",
            lane,
        )
        return [tuple(row) for row in rows]

    async def hold_states(self, bet_id: str = "b1") -> list[str]:
        """The states of a command's holds."""
        rows = await self.pool.fetch(
            "SELECT state FROM wallet.holds WHERE bet_id = $1 ORDER BY box, wager", bet_id
        )
        return [row["state"] for row in rows]

    async def hold_states_left(self) -> set[str]:
        """The states that any hold is in."""
        return {row["state"] for row in await self.pool.fetch("SELECT DISTINCT state FROM wallet.holds")}

    async def agrees_with_partners(self) -> None:
        """Everything is told, and each partner's own books say what our ledger says."""
        await self.quiet()
        if await self.value("SELECT EXISTS (SELECT FROM wallet.postings)"):
            await self.all_is_explained()
        for operator, server in self.servers.items():
            assert server.complaints == []
            for currency in {currency for _, currency in server.balances}:
                ours = (await self.books(operator, currency)).get("operator", 0)
                assert -ours == server.owed_to_us(currency), f"{operator} {currency}"
        rounds = await self.pool.fetch(
            "SELECT DISTINCT round FROM wallet.partner_lanes WHERE round IS NOT NULL"
        )
        async with self.pool.acquire() as connection:
            for one in await rounds_with_partners(connection, [row["round"] for row in rounds]):
                assert one.by_calls == one.by_ledger == one.told, one


@asynccontextmanager
async def seamless_world(
    pool: Pool, store: PostgresEventStore, *operators: str, settings: PartnerSettings = QUICK
) -> AsyncIterator[SeamlessWorld]:
    """A world with a partner for each operator; nothing of the queue is told before `start_work`."""
    async with AsyncExitStack() as stack:
        servers = {one: await stack.enter_async_context(PartnerServer()) for one in operators}
        yield await stack.enter_async_context(SeamlessWorld(pool, store, servers, settings))
