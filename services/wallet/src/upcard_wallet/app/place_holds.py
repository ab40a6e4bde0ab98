"""Placing holds: money is set aside before a wager is accepted (ARCHITECTURE.md, The round)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from eventstore.postgres import Pool
from upcard_wallet.app.purse import UNKNOWN, AccountRef, HoldGroup, HoldItem, Outcome, PurseKind, refused
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.domain.ids import (
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


async def place_holds(
    wallet: Wallet, pool: Pool, commands: Sequence[WantedHolds], deadline: float
) -> tuple[PlacedHolds, ...]:
    """Hold each command's money, all of it or nothing; one answer each, in their order.

    Commands never fail each other, whatever their operators and purses. `deadline` is a time of asyncio's
    loop (`loop.time()`). The same command again (round, player, `bet_id`) gives what is recorded of it; with
    other wagers or amounts it is refused.

    Besides the reasons of `purse.Refusal`: `account_unknown`, `wagers_invalid` (a form is wrong, a wager of
    a box twice, none or too many, an amount not above zero), `bet_id_reused` (with other wagers). These
    three are answers only: nothing is recorded of them. Raises ValueError for more than `MAX_COMMANDS`, and
    what a purse raises when all that were asked failed (one of several: its commands are `unknown`).
    """
    if len(commands) > MAX_COMMANDS:
        raise ValueError(f"at most {MAX_COMMANDS} commands at once, not {len(commands)}")
    right = [_are_right(command) for command in commands]
    players = {(one.player, one.currency) for one, is_right in zip(commands, right, strict=True) if is_right}
    accounts = await _accounts(wallet, pool, players)
    outcomes: list[Outcome] = []
    asked: dict[PurseKind, list[tuple[int, HoldGroup]]] = {}
    for place, (command, is_right) in enumerate(zip(commands, right, strict=True)):
        account = accounts.get((command.player, command.currency))
        if not is_right or account is None:
            outcomes.append(refused("account_unknown" if is_right else "wagers_invalid"))
            continue
        outcomes.append(UNKNOWN)
        asked.setdefault(account.purse, []).append((place, _group(command, account)))
    answers = await asyncio.gather(
        *(
            wallet.purses[kind].place([group for _, group in groups], deadline)
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
            outcomes[place] = outcome
    if failures and len(failures) == len(asked):
        raise failures[0]
    return tuple(
        PlacedHolds(outcome, _ids(command) if is_right else ())
        for command, outcome, is_right in zip(commands, outcomes, right, strict=True)
    )


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
            and is_amount(one.amount)
            and (one.funding is None or is_opaque_id(one.funding))
            for one in command.wagers
        )
    )
