"""Rounds of every ruleset, played with everybody watching: what is hidden is looked for again and again.

Before each window and each confirmation all rows of both databases, the topic, what the processes have
logged, their traces, the answers of the shoe reader's calls, every watcher's messages and views are searched
for the cards that still lie face down, and for their salts. What is hidden from whom is worked out from the
clauses of RULES.md alone (tests/rules_core/test_views_secrecy.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets as random_bytes
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from eventstore.postgres import PostgresEventStore
from rules_core.cards import Card, card_text
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.rulesets.shipped import shipped
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from servicekit.grpc import Actor, acting_as
from stack import Stack
from stack.names import fresh_name
from tests.end_to_end.table.conftest import PASSWORD
from tests.end_to_end.table.crowd import Crowd
from tests.end_to_end.table.play import TIMEOUT_S, Table, Terms, fresh, player
from tests.end_to_end.table.processes import DEALER, FLOOR, PLATFORM, READER, Casino, open_casino
from tests.end_to_end.table.searching import dumped, found_in, of_salt, published
from tests.end_to_end.table.test_rounds import RULESETS, players
from tests.eventstore.test_append_only import as_role
from tests.messaging.waiting import until
from tests.rules_core.test_views_secrecy import Secrets, leaks
from tests.servicekit.collector import Collector, collector
from tests.table.watching.watchers import said
from upcard.table.v1 import shoe_pb2, watching_pb2

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def traces() -> Iterator[Collector]:
    """Where the table service sends all of its traces."""
    with collector() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def casino(
    stack: Stack, table_template: str, wallet_template: str, service_role: str, traces: Collector
) -> AsyncIterator[Casino]:
    """One whose tables log everything and trace everything."""
    found: list[tuple[str, str]] = []
    for template in (table_template, wallet_template):
        owner = await stack.databases.create(fresh_name("secrets"), template)
        found.append((owner, as_role(owner, service_role, PASSWORD)))
    async with open_casino(
        stack,
        found[0],
        found[1],
        UPCARD_LOG_LEVEL="debug",
        UPCARD_TRACING_ENDPOINT=traces.endpoint,
        UPCARD_TRACING_SAMPLE_RATIO="1",
    ) as open_:
        yield open_


@dataclass
class Watcher:
    """Somebody who watches, and what was sent since it was last looked at."""

    viewer: Viewer
    actor: Actor | None
    new: list[watching_pb2.WatchTableResponse] = field(default_factory=list, repr=False)
    messages: int = 0
    cards: int = 0

    async def run(self, casino: Casino, table: str) -> None:
        """Watch until cancelled."""
        request = watching_pb2.WatchTableRequest(table=table, currency="EUR", with_view=True)
        with self.acting():
            call = casino.calls.table.WatchTable(request, timeout=120)
        async for message in call:
            self.new.append(message)
            self.messages += 1
            self.cards += sum(len(event.cards) for event in message.own.events)

    def acting(self) -> contextlib.AbstractContextManager[None]:
        """Calls in this one's name."""
        return contextlib.nullcontext() if self.actor is None else acting_as(self.actor)


@dataclass
class Searched(Table):
    """A table whose every card is remembered, and whose secrets are looked for at each step."""

    casino: Casino = field(kw_only=True, repr=False)
    traces: Collector = field(kw_only=True, repr=False)
    watchers: list[Watcher] = field(default_factory=list, kw_only=True)
    answers: bytearray = field(default_factory=bytearray, kw_only=True, repr=False)
    known_rows: set[bytes] = field(default_factory=set, kw_only=True, repr=False)
    looked_for: int = 0
    """Cards and salts that were hidden at some search, all searches together."""

    async def scan(self, card: Card, **more: object) -> shoe_pb2.ScanCardResponse:
        """Lay a card; of one that lies face down also what a reader may get wrong."""
        before = len(self.sealed)
        salt = random_bytes.token_bytes(16)
        scan_id = fresh()
        answer = await super().scan(card, salt=salt, scan_id=scan_id, **more)  # type: ignore[arg-type]  # none are given
        self.answers += answer.SerializeToString()
        if len(self.sealed) > before and before % 7 == 0:
            other = Card((card + 1) % 52)
            await self._again(card, scan_id, salt)
            await self._again(other, scan_id, salt)
            await self._again(card, fresh(), random_bytes.token_bytes(16))
        return answer

    async def _again(self, card: Card, scan_id: str, salt: bytes) -> None:
        request = shoe_pb2.ScanCardRequest(
            request_id=fresh(),
            table=self.name,
            round=self.number,
            scan_id=scan_id,
            card=card_text(card),
            card_salt=salt,
        )
        with acting_as(READER):
            answer = await self.calls.shoe.ScanCard(request, timeout=TIMEOUT_S)
        self.answers += answer.SerializeToString()

    async def confirm(self) -> None:
        """Search before the dealer confirms."""
        await self.search()
        await super().confirm()

    def secrets(self) -> Secrets:
        """What is hidden, and from whom, after the events so far."""
        found = Secrets(shipped(self.terms.ruleset))
        for event in self.events:
            command: c.Command = c.Proceed("")
            if isinstance(event, e.CardScanned | e.CardRescanned) and event.commitment is not None:
                opened = self.sealed.open(event.commitment)
                command = c.ScanCard(event.scan_id, opened.card, opened.salt)
            found.record(event, command)
        return found

    async def rows(self) -> set[bytes]:
        """All rows of both databases."""
        both = (await dumped(self.casino.table_dsn), await dumped(self.casino.wallet_dsn))
        return {row for dump in both for row in dump.splitlines()}

    async def search(self) -> None:
        """Look everywhere. What is hidden is asked after it was taken down: whatever is then, was before."""
        taken = [(watcher, watcher.new) for watcher in self.watchers]
        for watcher in self.watchers:
            watcher.new = []
        views = [(watcher.viewer, await self._view(watcher)) for watcher in self.watchers]
        rows = await self.rows() - self.known_rows
        places = {
            "the databases": b"\n".join(rows),
            "the topic": await published(self.casino, self),
            "the table's log": self.casino.table.said.encode(),
            "the wallet's log": self.casino.wallet.said.encode(),
            "the reader's answers": bytes(self.answers),
            "the traces": b"".join(one.SerializeToString() for one in self.traces.requests),
        }
        await self.look()
        secrets = self.secrets()
        salts = {needle for one in secrets.hidden.values() for needle in of_salt(bytes.fromhex(one.salt))}
        in_json = {f'"{one.card}"'.encode() for one in secrets.hidden.values()}
        in_message = {b"\x02" + one.card.encode() for one in secrets.hidden.values()}
        found = {place: found_in(data, salts) for place, data in places.items()}
        assert not any(found.values()), found
        for place in ("the databases", "the topic", "the table's log", "the wallet's log", "the traces"):
            assert found_in(places[place], in_json) == set(), place
        assert found_in(places["the reader's answers"], in_message) == set()
        for watcher, messages in taken:
            hidden = secrets.secret_from(watcher.viewer)
            assert leaks([value for message in messages for value in said(message)], hidden) == []
            raw = b"".join(message.SerializeToString() for message in messages)
            assert found_in(raw, salts) == set(), watcher.viewer
        for viewer, view in views:
            assert leaks(view, secrets.secret_from(viewer)) == [], viewer
        self.looked_for += len(secrets.hidden)

    async def _view(self, watcher: Watcher) -> object:
        request = watching_pb2.GetRoundRequest(table=self.name, round=self.number, currency="EUR")
        with watcher.acting():
            answer = await self.calls.table.GetRound(request, timeout=TIMEOUT_S)
        return json.loads(answer.view)


class SearchingCrowd(Crowd):
    """Players at whose windows everything is searched."""

    async def decide(self) -> None:
        """Search, then decide."""
        assert isinstance(self.table, Searched)
        await self.table.search()
        await super().decide()


@contextlib.asynccontextmanager
async def watched(table: Searched, names: tuple[str, ...]) -> AsyncIterator[None]:
    """Everybody watches meanwhile."""
    stranger = f"p{fresh()[:10]}"
    table.watchers = [
        *(Watcher(Player(name), player(name)) for name in (*names, stranger)),
        Watcher(Dealer(), DEALER),
        Watcher(Operations(), FLOOR),
        Watcher(Public(), PLATFORM),
        Watcher(Public(), None),
    ]
    tasks = [asyncio.create_task(one.run(table.casino, table.name)) for one in table.watchers]
    try:
        await until(lambda: all(one.messages for one in table.watchers), what="everybody watches")
        yield
        failed = [task for task in tasks if task.done()]
        assert not failed, [task.exception() for task in failed]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("ruleset", RULESETS)
async def test_a_hidden_card_is_nowhere_before_its_reveal(
    casino: Casino, log: PostgresEventStore, traces: Collector, ruleset: str
) -> None:
    names = await players(casino, 3)
    terms = Terms(ruleset, betting_ms=1_500, window_ms=4_000)
    table = Searched(casino.calls, log, terms, casino=casino, traces=traces)
    await table.open()
    table.known_rows = await table.rows()
    async with watched(table, names):
        await table.open_round()
        await SearchingCrowd(table, names, seed=3).play()
        assert table.state.step == "settled"
        assert table.looked_for > 0
        assert traces.spans
        # The search would have found them: it does, now that they are open.
        opened = [
            one
            for event in table.events
            if isinstance(event, e.CardsRevealed | e.DealerRevealed)
            for one in event.openings
        ]
        assert opened
        rows = b"\n".join(await table.rows() - table.known_rows)
        for one in opened:
            assert one.salt is not None
            assert found_in(rows, of_salt(bytes.fromhex(one.salt)))
            assert found_in(rows, {f'"{one.card}"'.encode()})
        for watcher in table.watchers:
            if isinstance(watcher.viewer, Player) and watcher.viewer.player in names:
                continue
            assert watcher.cards == 0
