"""A table played through its calls: a dealer, a shoe reader and players, and a copy of the round.

The copy is folded from the committed events, with the cards that were scanned: so who plays knows what may be
done, and what has to be waited for.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
import grpc.aio

from eventstore.port import Reader
from rules_core.cards import CARD_OF, DECK, Card, card_text
from rules_core.log.content import parse_content
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.decide.cards import face_down
from rules_core.round.driver import NextStep, next_step
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.shipped import shipped
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.end_to_end.table.processes import DEALER, MANAGER, PLATFORM, READER, Calls
from tests.messaging.waiting import until
from upcard.table.v1 import shoe_pb2, table_pb2
from upcard.wallet.v1 import wallet_pb2

TIMEOUT_S = 15.0
WAIT_S = 60.0
PAUSE_S = 0.01
AGAIN_S = 0.1
_PASSING = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
)
T = TypeVar("T")
CURRENCY = "EUR"
QUICK_MS = 400


def fresh() -> str:
    """An id that nobody has."""
    return uuid.uuid4().hex


def player(name: str) -> Actor:
    """A signed-in player."""
    return Actor(ActorKind.PLAYER, name)


@dataclass
class Terms:
    """What a table is opened with."""

    ruleset: str
    betting_ms: int = QUICK_MS
    window_ms: int = 5_000
    max_payout: int | None = None
    reserve: bool = False
    bonus: bool = True
    box_caps: dict[int, int] = field(default_factory=dict)
    """Boxes with a cap of their own."""

    def config(self) -> table_pb2.TableConfig:
        """As a message: everything that the ruleset has is on offer, in whole cents."""
        rules = shipped(self.ruleset)
        limits = table_pb2.CurrencyLimits(
            currency=CURRENCY,
            chip=1,
            ante=table_pb2.AmountRange(min=1, max=1_000_000),
            max_payout=self.max_payout,
            boxes=[table_pb2.BoxLimits(box=box, max_payout=cap) for box, cap in self.box_caps.items()],
            chips=[1, 2, 5, 10, 25, 50, 100, 500, 1_000, 5_000],
        )
        jackpot = ""
        if rules.bonus_player and self.bonus:
            limits.bonus_player.CopyFrom(table_pb2.AmountRange(min=1, max=1_000_000))
            shares = any(row.jackpot_share_percent is not None for row in rules.bonus_player)
            jackpot = f"j{fresh()[:8]}" if shares else ""
        if rules.bonus_dealer and self.bonus:
            limits.bonus_dealer.CopyFrom(table_pb2.AmountRange(min=1, max=1_000_000))
        window = self.window_ms
        return table_pb2.TableConfig(
            name="Table",
            ruleset=self.ruleset,
            limits=[limits],
            durations=table_pb2.Durations(
                betting_ms=self.betting_ms,
                options_ms=window,
                final_options_ms=window,
                purchase_ms=window,
                extension_max_ms=60_000,
            ),
            confirm_cards_ms=60_000,
            reserve_bet_with_ante=self.reserve,
            jackpot=jackpot,
            jackpot_stake_may_vary=bool(jackpot),
        )


@dataclass
class Table:
    """One table, and the copy of its latest round."""

    calls: Calls
    log: Reader
    terms: Terms
    name: str = field(default_factory=lambda: f"t{fresh()[:10]}")
    number: int = 0
    state: RoundState = field(init=False, repr=False)
    sealed: Sealed = field(default_factory=Sealed, repr=False)
    events: list[e.RoundEvent] = field(default_factory=list, repr=False)
    decks: Any = field(default_factory=lambda: itertools.count(1), repr=False)
    used: list[Card] = field(default_factory=list, repr=False)

    @property
    def round_name(self) -> str:
        """`<table>.<number>`."""
        return f"{self.name}.{self.number}"

    async def open(self) -> None:
        """Open it, sign the dealer in, bring a verified deck."""
        calls, deck = self.calls.table, self.deck
        with acting_as(MANAGER):
            opened = await calls.OpenTable(
                table_pb2.OpenTableRequest(request_id=fresh(), table=self.name, config=self.terms.config()),
                timeout=TIMEOUT_S,
            )
            assert opened.changed.position, opened
        with acting_as(DEALER):
            signed = await calls.SignInDealer(
                table_pb2.SignInDealerRequest(request_id=fresh(), table=self.name), timeout=TIMEOUT_S
            )
            assert signed.changed.position, signed
            introduced = await calls.IntroduceDeck(
                table_pb2.IntroduceDeckRequest(request_id=fresh(), table=self.name, deck=deck),
                timeout=TIMEOUT_S,
            )
            assert introduced.changed.position, introduced
            verified = await calls.VerifyDeck(
                table_pb2.VerifyDeckRequest(request_id=fresh(), table=self.name, deck=deck), timeout=TIMEOUT_S
            )
            assert verified.changed.position, verified

    @property
    def deck(self) -> str:
        """The one deck of this table."""
        return f"deck-{self.name}"

    async def open_round(self) -> None:
        """Shuffle, and open the next round."""
        with acting_as(DEALER):
            shuffled = await self.calls.table.ShuffleDeck(
                table_pb2.ShuffleDeckRequest(request_id=fresh(), table=self.name, deck=self.deck),
                timeout=TIMEOUT_S,
            )
            assert shuffled.changed.position, shuffled
            opened = await self.calls.table.OpenRound(
                table_pb2.OpenRoundRequest(request_id=fresh(), table=self.name), timeout=TIMEOUT_S
            )
        assert opened.changed.round == self.number + 1, opened
        self.number += 1
        self.state, self.sealed = new_round(shipped(self.terms.ruleset)), Sealed()
        self.events, self.used = [], []
        await self.look()

    async def look(self) -> None:
        """Fold what was committed since."""
        contents = await self.log.read_contents(f"round-{self.round_name}", after=len(self.events))
        for content in contents:
            one = parse_content(content)
            event = event_of(one.type, one.version, one.payload)
            self.events.append(event)
            evolve(self.state, event)

    async def until(self, what: str, condition: Callable[[], object]) -> None:
        """Look until it is so."""
        try:
            async with asyncio.timeout(WAIT_S):
                while True:
                    await self.look()
                    if condition():
                        return
                    await asyncio.sleep(PAUSE_S)
        except TimeoutError:
            seen = [type(event).__name__ for event in self.events]
            raise AssertionError(
                f"{self.round_name} waited for {what} at {self.step}; events: {seen}"
            ) from None

    @property
    def step(self) -> NextStep:
        """What the table does or waits for next."""
        return next_step(self.state, self.sealed)

    @property
    def window(self) -> tuple[str, int | None] | None:
        """The open window: its kind and box."""
        window = self.state.window
        return None if window is None else (window.kind, window.box)

    async def until_closed(self, window: tuple[str, int | None] | None) -> None:
        """Wait until another window is open, or none."""
        await self.until(f"the close of {window}", lambda: self.window != window)

    def over(self) -> bool:
        """Whether the round is settled or cancelled."""
        return self.state.step in {"settled", "cancelled"}

    # ----------------------------------------------------------------------------------------------- players

    async def bet(
        self, who: Actor, items: Iterable[table_pb2.PlaceBetsItem], *, request_id: str | None = None
    ) -> Sequence[table_pb2.ItemOutcome]:
        """Place bets."""
        request = table_pb2.PlaceBetsRequest(
            request_id=request_id or fresh(), table=self.name, round=self.number, items=items
        )
        with acting_as(who):
            return (await self.calls.table.PlaceBets(request, timeout=TIMEOUT_S)).items

    # ------------------------------------------------------------------------------------------------ dealing

    async def scan(
        self,
        card: Card,
        *,
        salt: bytes | None = None,
        scan_id: str | None = None,
        request_id: str | None = None,
    ) -> shoe_pb2.ScanCardResponse:
        """Lay a card in the place that awaits it."""
        await self.look()
        place = self.state.awaited[0] if self.state.awaited else ""
        hidden = bool(place) and face_down(self.state, place)
        salt = (salt or secrets.token_bytes(16)) if hidden else b""
        if hidden:
            self.sealed.add(card, salt.hex())
        request = shoe_pb2.ScanCardRequest(
            request_id=request_id or fresh(),
            table=self.name,
            round=self.number,
            scan_id=scan_id or fresh(),
            card=card_text(card),
            card_salt=salt,
        )
        with acting_as(READER):
            answer = await self.calls.shoe.ScanCard(request, timeout=TIMEOUT_S)
        self.used.append(card)
        await self.look()
        return answer

    async def deal(self, plan: Callable[[str], Card | None]) -> None:
        """Lay every card that is awaited, and confirm them; `plan` names those that matter by their place."""
        while True:
            await self.until("cards", lambda: self.over() or self.step in {"lay_card", "confirm_cards"})
            if self.over():
                return
            if self.step == "confirm_cards":
                await self.confirm()
                return
            place = self.state.awaited[0]
            card = plan(place)
            answer = await self.scan(self.spare() if card is None else card)
            assert answer.laid.place == place, answer

    async def confirm(self) -> None:
        """The dealer confirms the cards."""
        with acting_as(DEALER):
            answer = await self.calls.table.ConfirmCards(
                table_pb2.ConfirmCardsRequest(request_id=fresh(), table=self.name, round=self.number),
                timeout=TIMEOUT_S,
            )
        assert answer.changed.position, answer
        await self.look()

    def reserve(self, cards: Iterable[Card]) -> None:
        """Keep these cards for their places."""
        self._kept = set(cards)

    _kept: set[Card] = field(default_factory=set, repr=False)

    def spare(self) -> Card:
        """A card that was not laid and that nobody wants."""
        return next(card for card in DECK if card not in self._kept and card not in self.used)

    # -------------------------------------------------------------------------------------------------- money

    def settled(self) -> dict[str, e.PlayerSettled]:
        """What each player has got, the latest revision."""
        return {event.player: event for event in self.events if isinstance(event, e.PlayerSettled)}


async def answered(call: Callable[[], Awaitable[T]]) -> T:
    """Ask again and again with the same request, as a right program does."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                if error.code() not in _PASSING:
                    raise
            await asyncio.sleep(AGAIN_S)


async def open_account(calls: Calls, name: str, amount: int) -> None:
    """An account of a player, with money in it."""
    account = wallet_pb2.Account(
        account=account_of(name),
        player=name,
        operator="op1",
        currency=CURRENCY,
        purse=wallet_pb2.PURSE_INTERNAL,
    )
    with acting_as(PLATFORM):
        opened = await calls.wallet.OpenAccount(
            wallet_pb2.OpenAccountRequest(request_id=fresh(), account=account), timeout=TIMEOUT_S
        )
        assert opened.account == account, opened
        if amount:
            await deposit(calls, name, amount)


async def deposit(calls: Calls, name: str, amount: int) -> None:
    """Put money in."""
    with acting_as(PLATFORM):
        done = await calls.wallet.Deposit(
            wallet_pb2.DepositRequest(
                request_id=fresh(), account=account_of(name), amount=amount, currency=CURRENCY
            ),
            timeout=TIMEOUT_S,
        )
    assert done.HasField("moved"), done


def account_of(name: str) -> str:
    """The account of a player."""
    return f"{name}-{CURRENCY}"


async def balance(calls: Calls, name: str) -> tuple[int, int]:
    """Cash and held."""
    answer = await calls.wallet.GetBalance(
        wallet_pb2.GetBalanceRequest(account=account_of(name)), timeout=TIMEOUT_S
    )
    return answer.found.balance.cash, answer.found.balance.held


async def until_balance(calls: Calls, name: str, cash: int, held: int = 0) -> None:
    """Wait until the player has this."""

    async def has() -> bool:
        return await balance(calls, name) == (cash, held)

    await until(has, what=f"{name} has {(cash, held)}")


def cards(texts: Iterable[str]) -> list[Card]:
    """Cards of their texts."""
    return [CARD_OF[text] for text in texts]


def ante(box: int, amount: int, *, blind: bool = False) -> table_pb2.Wager:
    """An ante."""
    return table_pb2.Wager(box=box, wager="ante", amount=amount, blind=blind)


def bet_item(*placements: table_pb2.Wager, who: str = "") -> table_pb2.PlaceBetsItem:
    """A command that places these."""
    return table_pb2.PlaceBetsItem(player=who, currency=CURRENCY, bet_id=fresh(), placements=placements)
