"""An owner over a real database, with a clock and a wallet that the test moves and answers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from eventstore import Keyring
from eventstore.answers import AnswerKey, digest
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from rules_core.cards import CARD_OF, DECK, Card
from rules_core.log.content import parse_content
from rules_core.log.engines import ENGINES
from rules_core.log.openings import check_openings
from rules_core.log.replay import replay
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.command_of import Fact
from rules_core.round.decide.cards import face_down
from rules_core.rulesets.shipped import shipped
from tests.table.domain.tables import config_of
from tests.table.owner.hands import Figures, HandClock, HandFence, HandFunds
from upcard_table.adapters.postgres.log import PostgresTableLog
from upcard_table.app.calls import (
    AnswerSlot,
    By,
    Done,
    OpenRoundWork,
    Result,
    RoundWork,
    TableCall,
    TableWork,
    Work,
)
from upcard_table.app.owner.lookups import Lookups
from upcard_table.app.owner.owner import TableOwner, Term, World
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.app.ports import (
    Hints,
    PreviousOwner,
    TableLog,
)
from upcard_table.app.rounds.live import LiveRound
from upcard_table.domain import commands as t
from upcard_table.domain.words import round_stream

DEADLINE_S = 20.0
TABLE = "t1"
KEYS = Keyring({"k1": bytes(range(32))}, writes_with="k1")
STAFF = By("staff:floor-1", "corr-staff")
DEALER = By("dealer:d1", "corr-dealer")
SHOE = By("system", "corr-shoe")
GOOD_HANDS = ["2c", "Ah", "2d", "3c", "Kh", "3d", "4c", "Ad", "4d", "5c", "9h", "5d", "7c", "8h", "7d"]
"""On the shared table, in the order in which they are dealt: box 2 gets two aces and a king."""


@dataclass
class Owned:
    """A table, its owner, and the world around it."""

    pool: Pool
    store: PostgresEventStore
    log: TableLog
    clock: HandClock = field(default_factory=HandClock)
    funds: HandFunds = field(default_factory=HandFunds)
    fence: HandFence = field(default_factory=HandFence)
    figures: Figures = field(default_factory=Figures)
    settings: OwnerSettings = field(default_factory=OwnerSettings)
    owner: TableOwner = field(init=False)
    _numbers: Any = field(default_factory=itertools.count)
    _running: list[tuple[TableOwner, asyncio.Task[None]]] = field(default_factory=list)
    _lookups: list[Lookups] = field(default_factory=list)
    _deck: list[Card] = field(default_factory=lambda: list(DECK))

    # ---------------------------------------------------------------------------------------------- owners

    async def begin(
        self, *, token: int = 1, previous: PreviousOwner | None = None, log: TableLog | None = None
    ) -> TableOwner:
        """Another owner of the table; waits until it serves."""
        owner = self.start(token=token, previous=previous, log=log)
        await self.until(lambda: owner.serving)
        return owner

    def start(
        self, *, token: int = 1, previous: PreviousOwner | None = None, log: TableLog | None = None
    ) -> TableOwner:
        """Another owner of the table."""
        log = log or self.log
        lookups = Lookups(log)
        world = World(log, self.funds, self.fence, self.clock, self.figures, lookups, settings=self.settings)
        owner = TableOwner(TABLE, world)
        task = asyncio.create_task(owner.run(Term(token, previous)))
        self._running.append((owner, task))
        self._lookups.append(lookups)
        self.owner = owner
        return owner

    async def end(self, owner: TableOwner | None = None) -> None:
        """Stop owners in order: this one, or all."""
        for one, task in list(self._running):
            if owner is None or one is owner:
                one.stop()
                await asyncio.wait_for(task, DEADLINE_S)
                self._running.remove((one, task))

    async def kill(self, owner: TableOwner) -> None:
        """An owner's process dies, as far as that can be played in another process."""
        for one, task in list(self._running):
            if one is owner:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self._running.remove((one, task))

    async def close(self) -> None:
        """Stop everything."""
        await self.end()
        for lookups in self._lookups:
            await lookups.close()

    # ----------------------------------------------------------------------------------------------- calls

    def send(
        self, *works: Work, owner: TableOwner | None = None, request_id: str | None = None
    ) -> asyncio.Future[Any]:
        """Ask; the future of the answer."""
        slot = None
        if request_id is not None:
            key = AnswerKey("tests", "Call", request_id)
            slot = AnswerSlot(key, digest(repr(works).encode()), lambda results: repr(results).encode())
        call = TableCall(TABLE, works, slot, asyncio.get_running_loop().time() + DEADLINE_S)
        return (owner or self.owner).admit(call).answer

    async def ask(self, *works: Work, owner: TableOwner | None = None, request_id: str | None = None) -> Any:
        """Ask, and wait for the answer."""
        answer = self.send(*works, owner=owner, request_id=request_id)
        return await asyncio.wait_for(answer, DEADLINE_S)

    async def one(self, work: Work, owner: TableOwner | None = None) -> Result:
        """The result of one work."""
        (result,) = await self.ask(work, owner=owner)
        found: Result = result
        return found

    async def done(self, work: Work, owner: TableOwner | None = None) -> Done:
        """One work that must be done."""
        result = await self.one(work, owner)
        assert isinstance(result, Done), result
        return result

    async def table(self, command: t.TableCommand) -> Done:
        """A command of the floor, which must be done."""
        return await self.done(TableWork(command, STAFF))

    async def round(self, command: c.Command, by: By = DEALER) -> Done:
        """A command for the round, which must be done."""
        return await self.done(RoundWork(command, by))

    async def prepare(self, ruleset: str = "live-shared@1", **config: Any) -> None:
        """An open table with a dealer and a deck."""
        await self.table(t.OpenTable(TABLE, config_of(ruleset, **config)))
        await self.table(t.SignInDealer("d1"))
        await self.table(t.IntroduceDeck("deck-1"))
        await self.table(t.VerifyDeck("deck-1"))

    async def table_shuffled(self) -> None:
        """The deck is ready for the next round."""
        await self.table(t.ShuffleDeck("deck-1"))

    async def open_round(self) -> None:
        """Shuffle and open the next round."""
        await self.table(t.ShuffleDeck("deck-1"))
        await self.done(OpenRoundWork(DEALER))
        self._deck = list(DECK)

    def bet(
        self,
        player: str,
        *amounts: tuple[int, c.PlacedWager, int],
        bet_id: str | None = None,
        blind: bool = False,
    ) -> RoundWork:
        """A bet of a player, on box 2 where no other is named."""
        placements = tuple(
            c.Placement(box, wager, amount, blind) for box, wager, amount in amounts or ((2, "ante", 100),)
        )
        bet_id = bet_id or f"bet-{player}-{next(self._numbers)}"
        return RoundWork(c.PlaceBet(player, "EUR", bet_id, placements, ""), player_by(player))

    # ----------------------------------------------------------------------------------------------- cards

    @property
    def live(self) -> LiveRound:
        """The owner's last round."""
        live = self.owner._deciding.memory.last
        assert live is not None
        return live

    async def lay(self, *cards: str) -> None:
        """Scan the cards that are awaited: these, then whatever the deck has."""
        named = [CARD_OF[text] for text in cards]
        for card in named:
            self._deck.remove(card)
        while self.live.state.awaited:
            place = self.live.state.awaited[0]
            salt = f"{next(self._numbers):032x}" if face_down(self.live.state, place) else None
            card = named.pop(0) if named else self._deck.pop(0)
            await self.round(c.ScanCard(f"scan-{next(self._numbers)}", card, salt), SHOE)

    async def lay_some(self, count: int) -> None:
        """Scan so many of the cards that are awaited."""
        for _ in range(count):
            await self.done(self.next_scan())

    def next_scan(self) -> RoundWork:
        """The scan of the deck's next card, in the place that awaits one."""
        place = self.live.state.awaited[0]
        salt = f"{next(self._numbers):032x}" if face_down(self.live.state, place) else None
        return RoundWork(c.ScanCard(f"scan-{next(self._numbers)}", self._deck.pop(0), salt), SHOE)

    async def play_out(self) -> None:
        """Lay whatever is awaited and let every window pass, until the round is over."""
        for _ in range(60):
            state = self.live.state
            if state.step in {"settled", "cancelled"}:
                return
            if state.awaited:
                await self.lay()
            elif state.step in {"deal", "replace", "draw"}:
                await self.confirm()
            elif state.window is not None:
                await self.pass_window()
            else:
                await self.until(lambda: self.live.state.window is not None or self.live.ended)
        raise AssertionError(self.live.state.step)

    async def final_window(self, *players: str) -> None:
        """A final window in which each of these has a hand that bets by default."""
        for player in players:
            await self.done(self.bet(player, (2, "ante", 100)))
        await self.pass_window()
        await self.lay(*GOOD_HANDS)
        await self.confirm()
        await self.pass_window()
        await self.lay()
        await self.confirm()
        assert self.live.state.step == "final_options"

    async def until_hints(self, true: Callable[[Hints], bool]) -> Hints:
        """Wait until what is noted beside the log is so."""
        async with asyncio.timeout(DEADLINE_S):
            while not true(hints := await self.log.hints(TABLE)):  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.01)
        return hints

    async def confirm(self) -> None:
        """The dealer confirms the cards."""
        await self.round(c.ConfirmCards("", ""))

    async def pass_window(self) -> None:
        """Let the open window's time pass; every hold is answered at once."""
        window = self.live.state.window
        assert window is not None
        before = self.live.position
        self.clock.move(60_000)
        await self.until(lambda: self.live.position > before)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(DEADLINE_S):
            while not true():  # noqa: ASYNC110 - what is waited for is no event of the owner
                await asyncio.sleep(0.002)

    def closing_began(self) -> bool:
        """Whether the owner drains the open window, or has closed it."""
        close, window = self.owner._closing._close, self.live.state.window
        return window is None or (close is not None and close.window[1] == window.kind)

    def defaults_asked(self) -> bool:
        """Whether the money of bets by default was asked for."""
        close = self.owner._closing._close
        return close is not None and close.window[1] == "final_options" and close.defaults is not None

    # -------------------------------------------------------------------------------------------- the log

    async def events(self, number: int = 1) -> list[e.RoundEvent]:
        """The round's stream, as the log has it."""
        return [fact.event for fact in await self.facts(number)]

    async def facts(self, number: int = 1) -> list[Fact]:
        """The same, with who acted and when; when all that the owner has decided is stored."""
        await self._stored(number)
        facts = []
        async for contents in self.store.iterate_contents(round_stream(TABLE, number)):
            for content in contents:
                one = parse_content(content)
                facts.append(Fact(event_of(one.type, one.version, one.payload), one.actor, one.recorded_at))
        return facts

    async def _stored(self, number: int) -> None:
        live = self.owner._deciding.memory.rounds.get(number)
        async with asyncio.timeout(DEADLINE_S):
            while live is not None and self.owner.serving:
                head = await self.store.stream_head(live.stream)
                if head.position >= live.position:
                    return
                await asyncio.sleep(0.005)

    async def names(self, number: int = 1) -> list[str]:
        """The types of the round's events."""
        return [type(event).__name__ for event in await self.events(number)]

    async def check_replay(self, number: int = 1) -> None:
        """The round decides the same when it is decided again from its stream alone."""
        facts = await self.facts(number)
        opened = facts[0].event
        assert isinstance(opened, e.RoundOpened)
        openings = check_openings([fact.event for fact in facts])
        assert openings.difference is None, openings.difference
        assert not openings.unopened
        result = replay(ENGINES[opened.engine], shipped(opened.ruleset), facts, openings.sealed)
        assert result.difference is None, result.difference


def player_by(player: str) -> By:
    """A player as who asks."""
    return By(f"player:{player}", f"corr-{player}")


@contextlib.asynccontextmanager
async def owned_table(dsn: str, *, settings: OwnerSettings | None = None) -> AsyncIterator[Owned]:
    """A database, and what an owner needs; `begin` makes one."""
    async with await open_pool(dsn, application_name="table-test") as pool, PostgresEventStore(pool) as store:
        log = PostgresTableLog(pool, KEYS, store.announce)
        owned = Owned(pool, store, log, settings=settings or OwnerSettings())
        try:
            yield owned
        finally:
            await owned.close()
