"""Placing holds: money is set aside before a wager is accepted (ARCHITECTURE.md, The round)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from eventstore.postgres import Pool
from upcard_wallet.app.purse import UNKNOWN, AccountRef, HoldGroup, HoldItem, Outcome, PurseKind, refused
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.domain.ids import (
    TIP,
    hold_id,
    is_actor,
    is_amount,
    is_currency,
    is_opaque_id,
    is_round,
    is_wager,
)


@dataclass(frozen=True, slots=True)
class WantedHold:
    """One wager of one box whose money is asked for."""

    box: int
    wager: str
    amount: int
    """Minor units, above zero."""
    funding: str | None = None
    """Id of the free bet that pays it; absent: cash."""


@dataclass(frozen=True, slots=True)
class WantedHolds:
    """The wagers of one command: they stand or fall together."""

    round: str
    """`<table>.<number>`."""
    player: str
    currency: str
    bet_id: str
    wagers: tuple[WantedHold, ...]
    actor: str
    """`player:<id>` or `platform`."""
    correlation_id: str


@dataclass(frozen=True, slots=True)
class PlacedHolds:
    """What became of one command, with the ids of its holds in the order of its wagers."""

    outcome: Outcome
    holds: tuple[UUID, ...]


MAX_COMMANDS = 2_000
"""Most commands of one batch."""
MAX_WAGERS = 100
"""Most wagers of one command."""
_MOST_BOXES = 1_000


Answered = Callable[[int, PlacedHolds], None]
"""Told what became of the command at this place of a batch."""


async def place_holds(
    wallet: Wallet,
    pool: Pool,
    commands: Sequence[WantedHolds],
    deadline: float,
    answered: Answered | None = None,
) -> tuple[PlacedHolds, ...]:
    """Hold each command's money, all of it or nothing; one answer each, in their order.

    Commands never fail each other, whatever their operators and purses. `deadline` is a time of asyncio's
    loop (`loop.time()`). The same command again (round, player, `bet_id`) gives what is recorded of it; with
    other wagers or amounts it is refused. `answered` is told of each command once, as soon as it is known.

    Besides the reasons of `purse.Refusal`: `account_unknown`, `wagers_invalid` (a form is wrong, a wager of
    a box twice, none or too many, an amount not above zero), `bet_id_reused` (with other wagers). These
    three are answers only: nothing is recorded of them. Raises ValueError for more than `MAX_COMMANDS`, and
    what a purse raises when all that were asked failed (one of several: its commands are `unknown`).
    """
    if len(commands) > MAX_COMMANDS:
        raise ValueError(f"at most {MAX_COMMANDS} commands at once, not {len(commands)}")
    batch = _Batch(commands, answered)
    accounts = await _accounts(wallet, pool, batch.players())
    asked = batch.ask(accounts)
    answers = await asyncio.gather(
        *(
            wallet.purses[kind].place(
                [group for _, group in groups], deadline, partial(batch.hear_of_group, groups)
            )
            for kind, groups in asked.items()
        ),
        return_exceptions=True,
    )
    failures = []
    for groups, answer in zip(asked.values(), answers, strict=True):
        if isinstance(answer, BaseException):
            failures.append(answer)
            continue
        for (place, _), outcome in zip(groups, answer, strict=True):
            batch.hear(place, outcome)
    if failures and len(failures) == len(asked):
        raise failures[0]
    return batch.all()


class _Batch:
    """Commands with their answers so far; each is told on once, as soon as it is there."""

    def __init__(self, commands: Sequence[WantedHolds], answered: Answered | None) -> None:
        self._commands = commands
        self._right = [_are_right(command) for command in commands]
        self._answered = answered
        self._placed: dict[int, PlacedHolds] = {}

    def players(self) -> set[tuple[str, str]]:
        """Whose accounts are needed, with their currencies."""
        return {
            (one.player, one.currency)
            for one, is_right in zip(self._commands, self._right, strict=True)
            if is_right
        }

    def ask(
        self, accounts: Mapping[tuple[str, str], AccountRef]
    ) -> dict[PurseKind, list[tuple[int, HoldGroup]]]:
        """What each purse has to be asked, with the places of the commands; the others are refused here."""
        asked: dict[PurseKind, list[tuple[int, HoldGroup]]] = {}
        for place, (command, is_right) in enumerate(zip(self._commands, self._right, strict=True)):
            account = accounts.get((command.player, command.currency))
            if not is_right:
                self.hear(place, refused("wagers_invalid"))
            elif account is None:
                self.hear(place, refused("account_unknown"))
            else:
                asked.setdefault(account.purse, []).append((place, _group(command, account)))
        return asked

    def hear(self, place: int, outcome: Outcome) -> None:
        """A command has its answer. Its first one counts."""
        if place in self._placed:
            return
        holds = _ids(self._commands[place]) if self._right[place] else ()
        self._placed[place] = placed = PlacedHolds(outcome, holds)
        if self._answered is not None:
            self._answered(place, placed)

    def hear_of_group(self, groups: Sequence[tuple[int, HoldGroup]], place: int, outcome: Outcome) -> None:
        """A purse says so of the group at this place among its own."""
        self.hear(groups[place][0], outcome)

    def all(self) -> tuple[PlacedHolds, ...]:
        """Every command's answer; nothing is known of those whose purse failed."""
        for place in range(len(self._commands)):
            self.hear(place, UNKNOWN)
        return tuple(self._placed[place] for place in range(len(self._commands)))


async def _accounts(
    wallet: Wallet, pool: Pool, players: set[tuple[str, str]]
) -> dict[tuple[str, str], AccountRef]:
    """The accounts of (player, currency), from memory where all of them were asked for before."""
    found = {one: wallet.ledger.remembered(*one) for one in players}
    accounts = {one: account for one, account in found.items() if account is not None}
    if len(accounts) < len(players):
        async with pool.acquire() as connection:
            return await wallet.ledger.accounts_of(connection, players)
    return accounts


def _ids(command: WantedHolds) -> tuple[UUID, ...]:
    return tuple(
        hold_id(command.round, command.player, command.bet_id, one.box, one.wager) for one in command.wagers
    )


def _group(command: WantedHolds, account: AccountRef) -> HoldGroup:
    items = tuple(
        HoldItem(hold, one.box, one.wager, one.amount, one.funding)
        for hold, one in zip(_ids(command), command.wagers, strict=True)
    )
    return HoldGroup(command.round, command.bet_id, account, items, command.actor, command.correlation_id)


def _are_right(command: WantedHolds) -> bool:
    return (
        is_round(command.round)
        and is_opaque_id(command.player)
        and is_opaque_id(command.bet_id)
        and is_opaque_id(command.correlation_id)
        and is_actor(command.actor)
        and is_currency(command.currency)
        and 0 < len(command.wagers) <= MAX_WAGERS
        and len({(one.box, one.wager) for one in command.wagers}) == len(command.wagers)
        and all(
            0 < one.box <= _MOST_BOXES
            and is_wager(one.wager)
            and one.wager != TIP
            and is_amount(one.amount)
            and (one.funding is None or is_opaque_id(one.funding))
            for one in command.wagers
        )
    )
