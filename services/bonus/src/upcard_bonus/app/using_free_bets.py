"""What the table's events do to free bets: used by a stake, given back with it, spent by a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from eventstore.postgres import Connection
from rules_core.round import events as e
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.draft import Draft
from upcard_bonus.app.ports import BetKey
from upcard_bonus.app.recording import Origin
from upcard_bonus.app.round_facts import RoundFact
from upcard_bonus.domain.free_bet import FreeBet, Use, evolve, give_back, use
from upcard_bonus.domain.free_bet_events import FreeBetEvent, ReturnReason
from upcard_bonus.domain.ids import free_bet_stream


class FreeBetUses:
    """The free bets of one batch of events; `load`, `apply` each fact, `store`."""

    def __init__(self, office: BonusOffice, draft: Draft) -> None:
        self._office = office
        self._draft = draft
        self._states: dict[str, FreeBet] = {}
        self._uses: dict[BetKey, Use] = {}
        self._changed_states: set[str] = set()
        self._by_player: dict[tuple[str, str], list[BetKey]] = {}
        self._changed_uses: set[BetKey] = set()
        self._gone: set[BetKey] = set()

    async def load(self, connection: Connection, facts: Sequence[RoundFact]) -> None:
        """Read what these facts need, and lock it: nothing at all where no free bet is concerned."""
        names = {fact.round for fact in facts if _concerns(fact)}
        uses = await self._office.free_bets.uses(connection, names) if names else ()
        for one in uses:
            self._note(one)
        wanted = {one.free_bet for one in uses}
        for fact in facts:
            if isinstance(fact.event, e.BetPlaced):
                wanted |= {stake.funding for stake in fact.event.stakes if stake.funding is not None}
        if wanted:
            self._states = await self._office.free_bets.lock(connection, wanted)

    def apply(self, fact: RoundFact) -> None:
        """Give an event its effect."""
        match fact.event:
            case e.BetPlaced() as placed:
                self._place(fact, placed)
            case e.BetWithdrawn() as withdrawn:
                self._withdraw(fact, withdrawn)
            case e.PlayerSettled() as settled:
                self._settle(fact, settled)
            case e.RoundCancelled():
                staked = [one for key, one in self._uses.items() if key.round == fact.round]
                self._back(staked, "cancelled", fact.origin)
            case _:
                pass

    async def store(self, connection: Connection) -> None:
        """Store it all but the events."""
        free_bets = self._office.free_bets
        await free_bets.save(connection, [self._states[name] for name in sorted(self._changed_states)])
        await free_bets.drop_uses(connection, self._gone)
        await free_bets.put_uses(connection, [self._uses[key] for key in sorted(self._changed_uses)])

    def _place(self, fact: RoundFact, placed: e.BetPlaced) -> None:
        for stake in placed.stakes:
            if stake.funding is None:
                continue
            state = self._states.get(stake.funding)
            if state is None:
                self._office.watcher.unknown_free_bet(f"{stake.funding} in {fact.round}")
                continue
            if stake.wager not in state.wagers or (placed.player, placed.currency) != (
                state.player,
                state.currency,
            ):
                self._office.watcher.misused_free_bet(f"{stake.funding} for {stake.wager} in {fact.round}")
            one = Use(
                fact.round,
                placed.player,
                placed.bet_id,
                stake.box,
                stake.wager,
                stake.funding,
                stake.amount,
            )
            self._put(one)
            self._tell(state, use(state, one), fact.origin)

    def _withdraw(self, fact: RoundFact, withdrawn: e.BetWithdrawn) -> None:
        """What was taken back is no use of the round any more: no result can spend it."""
        for stake in withdrawn.stakes:
            key = BetKey(fact.round, withdrawn.player, stake.bet_id, stake.box, stake.wager)
            one = self._uses.get(key)
            if one is not None:
                self._back([one], "withdrawn", fact.origin)
                del self._uses[key]
                self._by_player[key.round, key.player].remove(key)
                self._changed_uses.discard(key)
                self._gone.add(key)

    def _settle(self, fact: RoundFact, settled: e.PlayerSettled) -> None:
        """A line that returns exactly its stake gives the free bet back; so does the wallet."""
        came_back: dict[tuple[int, str, str | None], bool] = {
            (box.box, line.wager, line.funding): line.returned == line.stake
            for box in settled.boxes
            for line in box.lines
            if line.funding is not None
        }
        for key in self._by_player.get((fact.round, settled.player), ()):
            one = self._uses[key]
            back = came_back.get((one.box, one.wager, one.free_bet))
            if back:
                self._back([one], "returned", fact.origin)
            elif back is False and one.back:
                state = self._states[one.free_bet]
                self._put(replace(one, back=False))
                self._tell(state, use(state, one, correction=True), fact.origin)

    def _back(self, uses: Iterable[Use], why: ReturnReason, origin: Origin) -> None:
        for one in uses:
            if not one.back:
                state = self._states[one.free_bet]
                self._put(replace(one, back=True))
                self._tell(state, give_back(state, one, why), origin)

    def _note(self, one: Use) -> None:
        key = _key(one)
        if key not in self._uses:
            self._by_player.setdefault((key.round, key.player), []).append(key)
        self._uses[key] = one

    def _put(self, one: Use) -> None:
        self._note(one)
        self._changed_uses.add(_key(one))

    def _tell(self, state: FreeBet, events: Iterable[FreeBetEvent], origin: Origin) -> None:
        events = tuple(events)
        for event in events:
            state = evolve(state, event) or state
            self._office.watcher.free_bet(type(event).__name__)
        self._states[state.free_bet] = state
        self._changed_states.add(state.free_bet)
        self._draft.tell(free_bet_stream(state.free_bet), events, origin)


def _concerns(fact: RoundFact) -> bool:
    """Whether uses of its round may be needed."""
    match fact.event:
        case e.BetWithdrawn() | e.RoundCancelled():
            return True
        case e.PlayerSettled(boxes=boxes):
            return any(line.funding is not None for box in boxes for line in box.lines)
        case _:
            return False


def _key(one: Use) -> BetKey:
    return BetKey(one.round, one.player, one.bet_id, one.box, one.wager)
