"""What a run of one round's events changes in the facts about it: added up, so that it is written at once.

The run may begin anywhere in the round, as long as it goes on where the one before it ended: nothing here
needs to know what came earlier but whether the table is shared, since on a shared table what is decided in a
window is hidden until that closes (RULES.md section 4.3).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rules_core.round import events as e
from rules_core.settlement.model import DealerResult

BetKey = tuple[str, int, str]
"""Player, box, wager."""


@dataclass(slots=True)
class WindowChange:
    """One window. Instants as in the events; `extended_ms` is added to what there was."""

    kind: str | None = None
    """Of a window that opened here; None: of the one that was open before."""
    box: int | None = None
    position: int = 0
    """Of the event that opened it."""
    opened_at: str | None = None
    closed_at: str | None = None
    extended_ms: int = 0


@dataclass(slots=True)
class PlayerChange:
    """One player of the round."""

    currency: str | None = None
    """Set by a bet: the player is in the round from then on."""
    staked_more: int = 0
    by_platform: int = 0
    settled: e.PlayerSettled | None = None
    """The latest result; `staked_more` is then of no meaning."""


@dataclass(slots=True)
class BetChange:
    """One wager of one box."""

    more: int = 0
    blind: bool = False
    hidden: bool = False
    """Whether it was decided in a window of a shared table that is still open."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the round ended; a later correction gives another one."""

    state: str
    at: str
    reason: str | None = None
    dealer: DealerResult | None = None
    totals: tuple[e.CurrencyTotal, ...] = ()
    correction: int = 0


@dataclass(slots=True)
class RoundChanges:
    """All changes of one round."""

    opened: e.RoundOpened | None = None
    ended: Ending | None = None
    """The first end: settled or cancelled."""
    corrected: Ending | None = None
    """The latest correction."""
    players: dict[str, PlayerChange] = field(default_factory=dict)
    bets: dict[BetKey, BetChange] = field(default_factory=dict)
    declined: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Player, currency (empty: the player had named none), reason."""
    windows: list[WindowChange] = field(default_factory=list)
    """In their order; at most the first one is that which was open before."""
    revealed: bool = False
    """Whether a window closed: hidden bets of before are hidden no more."""

    @property
    def over(self) -> bool:
        """Whether the round ended here."""
        return self.ended is not None

    def add(self, event: e.RoundEvent, position: int, recorded_at: str, *, shared: bool) -> None:
        """Add the next event; `recorded_at` as in its content."""
        match event:
            case e.RoundOpened():
                self.opened = event
                self._open("betting", None, position, event.opened_at)
            case e.BetPlaced() | e.BetWithdrawn() | e.BetDeclined():
                self._bets(event)
            case e.OptionChosen() | e.FinalOptionChosen() | e.PurchaseMade() | e.PurchaseDeclined():
                self._decision(event, hidden=shared)
            case e.OptionsOpened(box=box, opened_at=at):
                self._open("options", box, position, at)
            case e.FinalOptionsOpened(box=box, opened_at=at):
                self._open("final_options", box, position, at)
            case e.PurchaseOffered(opened_at=at):
                self._open("purchase", None, position, at)
            case e.WindowExtended(extended_ms=extended_ms):
                self._window().extended_ms += extended_ms
            case (
                e.BettingClosed(closed_at=at)
                | e.OptionsClosed(closed_at=at)
                | e.FinalOptionsClosed(closed_at=at)
                | e.PurchaseClosed(closed_at=at)
            ):
                self._close(at)
            case e.PlayerSettled() | e.RoundSettled() | e.RoundCancelled() | e.RoundResettled():
                self._ending(event, recorded_at)
            case _:
                pass  # cards and their openings change no figure

    def _player(self, player: str) -> PlayerChange:
        return self.players.setdefault(player, PlayerChange())

    def _bet(self, player: str, box: int, wager: str) -> BetChange:
        return self.bets.setdefault((player, box, wager), BetChange())

    def _bets(self, event: e.BetPlaced | e.BetWithdrawn | e.BetDeclined) -> None:
        match event:
            case e.BetDeclined():
                self.declined[event.player, event.currency or "", event.reason] += 1
            case e.BetPlaced():
                player = self._player(event.player)
                player.currency = event.currency
                for stake in event.stakes:
                    player.staked_more += stake.amount
                    bet = self._bet(event.player, stake.box, stake.wager)
                    bet.more += stake.amount
                    bet.blind = stake.blind
            case e.BetWithdrawn():
                player = self._player(event.player)
                for back in event.stakes:
                    player.staked_more -= back.amount
                    self._bet(event.player, back.box, back.wager).more -= back.amount

    def _decision(
        self,
        event: e.OptionChosen | e.FinalOptionChosen | e.PurchaseMade | e.PurchaseDeclined,
        *,
        hidden: bool,
    ) -> None:
        player = self._player(event.player)
        wagers: dict[str, int] = {}
        match event:
            case e.OptionChosen(kind=kind, amount=amount):
                wagers["bet" if kind == "bet" else "option_fee"] = amount
            case e.FinalOptionChosen(by=by, bet=staked, insurance=insurance):
                wagers.update(bet=staked, insurance=insurance)
                player.by_platform += by == "platform"
            case e.PurchaseMade(fee=fee):
                wagers["purchase_fee"] = fee
            case e.PurchaseDeclined(by=by):
                player.by_platform += by == "platform"
        for wager, amount in wagers.items():
            if amount:
                player.staked_more += amount
                bet = self._bet(event.player, event.box, wager)
                bet.more += amount
                bet.hidden = hidden

    def _open(self, kind: str, box: int | None, position: int, at: str) -> None:
        self.windows.append(WindowChange(kind, box, position, at))

    def _window(self) -> WindowChange:
        if not self.windows:
            self.windows.append(WindowChange())
        return self.windows[-1]

    def _close(self, at: str) -> None:
        self._window().closed_at = at
        self.revealed = True
        for bet in self.bets.values():
            bet.hidden = False

    def _ending(
        self, event: e.PlayerSettled | e.RoundSettled | e.RoundCancelled | e.RoundResettled, at: str
    ) -> None:
        match event:
            case e.PlayerSettled():
                self._player(event.player).settled = event
            case e.RoundSettled(dealer=dealer, totals=totals):
                self.ended = Ending("settled", at, None, dealer, totals)
            case e.RoundCancelled(reason=reason):
                self.ended = Ending("cancelled", at, reason)
            case e.RoundResettled(number=number, dealer=dealer, totals=totals):
                self.corrected = Ending("settled", at, None, dealer, totals, number)
