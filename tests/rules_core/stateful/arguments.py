"""Arguments of commands: mostly what would be right now, and now and then something else."""

from __future__ import annotations

from typing import get_args

from rules_core.cards import DECK, Card
from rules_core.round import commands as c
from rules_core.round.events.fields import Source
from rules_core.round.limits import MAX_AMOUNT, MAX_STAKE, AmountRange, CurrencyLimits
from rules_core.round.times import plus_ms
from tests.rules_core.stateful.choices import Choices, chance, pick, some
from tests.rules_core.stateful.sensible import PLAYERS, bet_id, offered
from tests.rules_core.stateful.table import START, Table

WAGERS: tuple[c.PlacedWager, ...] = get_args(c.PlacedWager)
PEOPLE = ("dealer:d1", "system", "staff:s1")
TOO_EARLY, LATE = "2025-12-31T00:00:00.000000Z", "2030-01-01T00:00:00.000000Z"
NO_INSTANTS = ("", "0", "~", "yesterday", "2026-02-30T12:00:00.000000Z", "9999-12-31T23:59:59.999999Z")
NO_IDS = ("", "a b", "x" * 65, "b\n", "\u00e9")
NO_AMOUNTS = (0, -100, 1, 10**9, MAX_STAKE, MAX_STAKE + 1, MAX_AMOUNT)
PLACES = (
    "box.1.0",
    "box.2.4",
    "dealer.0",
    "dealer.4",
    "switch.0",
    "draw.0",
    "replacement.1.0",
    "box.9.9",
    "",
)
ODD = 6
"""In so many cases of a hundred an argument is not what would be right."""


def odd(choices: Choices) -> bool:
    """Whether an argument is not what would be right."""
    return chance(choices, ODD)


def player(choices: Choices, table: Table) -> str:
    """Somebody with bets in the round; or without."""
    if table.players and not odd(choices):
        return pick(choices, table.players)
    return pick(choices, (*PLAYERS, "nobody"))


def box(choices: Choices, table: Table) -> int:
    """A box of the table; or none."""
    if odd(choices):
        return pick(choices, (0, table.ruleset.boxes + 1, -1))
    return choices.whole(1, table.ruleset.boxes)


def hand(choices: Choices, table: Table) -> tuple[int, str]:
    """A box and player that are asked; or any box that somebody plays; or none."""
    asked = list(table.state.undecided)
    if asked and not odd(choices):
        return pick(choices, asked)
    played = [(play.box, seat.player) for seat in table.state.seats.values() for play in seat.ordered()]
    if played and not odd(choices):
        return pick(choices, played)
    return box(choices, table), player(choices, table)


def instant(choices: Choices, table: Table) -> str:
    """Now; or about the time when the window closes, or much too early or late, or no instant at all."""
    if not odd(choices):
        return table.now
    window = table.state.window
    closes_at = table.now if window is None else window.closes_at
    near = (closes_at, plus_ms(closes_at, -1), plus_ms(closes_at, 1))
    return pick(choices, (*near, START, TOO_EARLY, LATE, *NO_INSTANTS))


def a_bet_id(choices: Choices, table: Table) -> str:
    """A new bet id; or one that is recorded already, or what is no id."""
    if not odd(choices):
        return bet_id(table)
    return pick(choices, (*sorted(table.books.bet_ids), *NO_IDS))


def a_scan_id(choices: Choices, table: Table) -> str:
    """A new scan id; or one that is recorded already, or what is no id."""
    if not odd(choices):
        return f"s{table.number()}"
    return pick(choices, (*sorted(table.state.scan_ids), *NO_IDS))


def by(choices: Choices) -> str:
    """Somebody who may act; or nobody."""
    return pick(choices, ("player:p1", "", "dealer:", "House")) if odd(choices) else pick(choices, PEOPLE)


def funds(choices: Choices) -> c.Funds:
    """Money that is held; or refused, or not answered, or not asked for."""
    return pick(choices, ("held", "held", "held", "held", "refused", "unavailable", "not_asked"))


def allowed_range(limits: CurrencyLimits, where: int, wager: c.PlacedWager) -> AmountRange:
    """The limits of a wager; those of the ante for one that is not taken."""
    allowed = limits.ante_in(where) if wager == "ante" else getattr(limits, wager)
    return limits.ante if allowed is None else allowed


def amount(choices: Choices, limits: CurrencyLimits, allowed: AmountRange) -> int:
    """An amount within the limits; or just outside, or far from them."""
    low, high, chip = allowed.min, allowed.max, limits.chip
    if odd(choices):
        return pick(choices, (low - chip, high + chip, low + 1, high, *NO_AMOUNTS))
    return min(high, low + chip * choices.whole(0, 4))


def placement(choices: Choices, table: Table, limits: CurrencyLimits, who: str) -> c.Placement:
    """A wager on a box, as it can be played or is played already; or otherwise."""
    where, wager = box(choices, table), pick(choices, ("ante", *WAGERS))
    book = table.books.boxes.get((who, where))
    kinds = table.ruleset.box_kinds
    kind = kinds[where - 1] if 1 <= where <= len(kinds) else "open"
    blind = kind == "blind" if book is None else book.blind
    if kind == "any" and book is None:
        blind = chance(choices, 30)
    if odd(choices):
        blind = not blind
    how_much = amount(choices, limits, allowed_range(limits, where, wager))
    return c.Placement(where, wager, how_much, blind, "freebet-1" if chance(choices, 15) else None)


def limits_of(choices: Choices, table: Table, who: str) -> CurrencyLimits:
    """The limits in the player's currency; or in another one of the table."""
    seat = table.state.seats.get(who)
    if seat is None or odd(choices):
        return pick(choices, table.limits)
    return table.state.limits[seat.currency]


def placements(choices: Choices, table: Table, limits: CurrencyLimits, who: str) -> tuple[c.Placement, ...]:
    """A few wagers; or none, or too many."""
    if odd(choices):
        return (placement(choices, table, limits, who),) * pick(choices, (0, 2, 33))
    return tuple(placement(choices, table, limits, who) for _ in range(choices.whole(1, 3)))


def card(choices: Choices, table: Table) -> Card:
    """A card that can come; or one that was read already, or any."""
    deck, read = table.laid.deck(), table.laid.read()
    if deck and not odd(choices):
        return pick(choices, deck)
    return pick(choices, read if read and chance(choices, 60) else DECK)


def named_cards(choices: Choices, table: Table) -> tuple[tuple[str, Card], ...]:
    """The cards that lie unread, read out; or only some of them, or others."""
    lying = tuple((where, table.laid.truth[where]) for where in table.state.unread)
    if odd(choices):
        places = [*table.laid.truth, *PLACES]
        others = tuple((pick(choices, places), card(choices, table)) for _ in range(choices.whole(1, 2)))
        return (*some(choices, lying, 0, len(lying)), *others)
    return lying if chance(choices, 50) else ()


def salt(choices: Choices, table: Table) -> str | None:
    """A card salt; or none, or one that was used, or what is no card salt."""
    good = table.salt()
    if not odd(choices):
        return good
    used = [table.sealed.open(commitment).salt for commitment in sorted(table.laid.committed)]
    return pick(choices, (None, "", good.upper(), good[:30], "z" * 32, *used[-5:]))


def source(choices: Choices, table: Table) -> Source:
    """What reads the cards now; or the other."""
    by_hand = table.by_hand != odd(choices)
    return "manual" if by_hand else "shoe"


def positions(choices: Choices, table: Table) -> tuple[int, ...]:
    """The cards of an exchange; or too many, or some twice, or none."""
    if odd(choices):
        return tuple(choices.whole(-1, 5) for _ in range(choices.whole(0, 6)))
    return tuple(some(choices, range(5), 1, table.ruleset.exchange_max))


def insurance(choices: Choices, table: Table, where: int, who: str) -> int:
    """Nothing, or an amount within the bounds that are offered; or just outside, or far from them."""
    for action in offered(table, who).finals:
        bounds = action.insurance
        if action.box == where and bounds is not None:
            if odd(choices):
                return pick(choices, (bounds.min - 1, bounds.max + 1, -1, MAX_AMOUNT))
            return choices.whole(bounds.min, bounds.max) if chance(choices, 70) else 0
    return pick(choices, (100, 1, -1)) if odd(choices) else 0
