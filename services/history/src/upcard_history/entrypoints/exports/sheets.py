"""The columns of each export. Amounts are in minor units, as everywhere; instants in UTC."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from servicekit.csv_lines import Cell
from upcard_history.app import figures as f
from upcard_history.app import reading as r
from upcard_history.entrypoints.exports.chunks import Sheet

RoundToken = Callable[[r.RoundKey | None], str]
WINDOWS: Final = ("betting", "options", "final_options", "purchase")

R = TypeVar("R")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A round and one of its currencies, or none."""

    row: r.RoundRow
    sums: r.CurrencySum | None
    last: bool
    """Whether it is the round's last line: only there can an export go on."""


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A line of a statement, or a balance before or after all of them."""

    at: dt.datetime
    kind: str
    account: r.AccountRow
    balance: r.AccountBalance
    line: r.StatementLine | None = None


@dataclass(frozen=True, slots=True)
class FigureLine:
    """Counts of an hour or day and key, or the money of one currency: so that each column can be added up."""

    row: f.FigureRow
    counts: f.FigureRow | None
    money: f.Money | None


def rounds(token: RoundToken) -> Sheet[RoundLine]:
    """Rounds of all tables: a line a round and currency."""

    def row(value: Callable[[r.RoundRow], Cell]) -> Callable[[RoundLine], Cell]:
        return lambda line: value(line.row)

    hand, sums = _part(_hand_of_line), _part(_sums_of)
    return Sheet(
        (
            ("round", row(lambda one: one.round)),
            ("table", row(lambda one: one.table)),
            ("number", row(lambda one: one.number)),
            ("ruleset", row(lambda one: one.ruleset)),
            ("engine", row(lambda one: one.engine)),
            ("state", row(lambda one: one.state)),
            ("reason", row(lambda one: one.reason)),
            ("opened_at", row(lambda one: one.opened_at)),
            ("ended_at", row(lambda one: one.ended_at)),
            ("dealers", row(lambda one: " ".join(one.dealers))),
            ("dealer_first", hand(lambda one: one.first)),
            ("dealer_final", hand(lambda one: one.final)),
            ("dealer_cards", hand(lambda one: " ".join(one.cards))),
            ("game", hand(lambda one: one.qualified)),
            ("purchased", hand(lambda one: one.purchased)),
            ("corrections", row(lambda one: one.corrections)),
            ("currency", sums(lambda one: one.currency)),
            ("players", sums(lambda one: one.players)),
            ("staked", sums(lambda one: one.staked)),
            ("returned", sums(lambda one: one.returned)),
        ),
        lambda line: token(r.RoundKey(line.row.opened_at, line.row.round)) if line.last else None,
    )


def round_lines(rows: Sequence[r.RoundRow]) -> Iterator[RoundLine]:
    """The lines of rounds."""
    for row in rows:
        totals: tuple[r.CurrencySum | None, ...] = row.totals or (None,)
        for number, sums in enumerate(totals, 1):
            yield RoundLine(row, sums, last=number == len(totals))


def player_rounds(token: RoundToken) -> Sheet[r.PlayerRound]:
    """A player's rounds: a line a round."""
    hand = _part(_hand_of_player)
    return Sheet(
        (
            ("round", lambda row: row.round),
            ("table", lambda row: row.table),
            ("number", lambda row: row.number),
            ("ruleset", lambda row: row.ruleset),
            ("player", lambda row: row.player),
            ("state", lambda row: row.state),
            ("reason", lambda row: row.reason),
            ("opened_at", lambda row: row.opened_at),
            ("ended_at", lambda row: row.ended_at),
            ("currency", lambda row: row.currency),
            ("staked", lambda row: row.staked),
            ("returned", lambda row: row.returned),
            ("net", lambda row: row.net),
            ("revision", lambda row: row.revision),
            ("dealer_first", hand(lambda one: one.first)),
            ("dealer_final", hand(lambda one: one.final)),
            ("dealer_cards", hand(lambda one: " ".join(one.cards))),
            ("by_platform", lambda row: row.by_platform),
            ("boxes", lambda row: _boxes(row.boxes)),
        ),
        lambda row: token(r.RoundKey(row.opened_at, row.round)),
    )


def statement(token: Callable[[int | None], str]) -> Sheet[StatementRow]:
    """A statement: the balance before it, its lines, the balance after it."""
    line = _part(_line_of)
    return Sheet(
        (
            ("at", lambda row: row.at),
            ("kind", lambda row: row.kind),
            ("account", lambda row: row.account.account),
            ("player", lambda row: row.account.player),
            ("operator", lambda row: row.account.operator),
            ("currency", lambda row: row.account.currency),
            ("cash", line(lambda one: one.cash)),
            ("held", line(lambda one: one.held)),
            ("owed", line(lambda one: one.owed)),
            ("promo", line(lambda one: one.promo)),
            ("balance_cash", lambda row: row.balance.cash),
            ("balance_held", lambda row: row.balance.held),
            ("balance_owed", lambda row: row.balance.owed),
            ("round", line(lambda one: one.round)),
            ("revision", line(lambda one: one.revision)),
            ("reason", line(lambda one: one.reason)),
            ("transaction", line(lambda one: one.transaction)),
            ("event", line(lambda one: one.event)),
        ),
        lambda row: None if row.line is None else token(row.line.position),
    )


def balance_row(kind: str, at: dt.datetime, balance: r.AccountBalance, account: r.AccountRow) -> StatementRow:
    """The balance before or after the lines."""
    return StatementRow(at, kind, account, balance)


def line_row(line: r.StatementLine, account: r.AccountRow) -> StatementRow:
    """A line with the balance after it."""
    return StatementRow(line.at, line.kind, account, line.after, line)


def figures() -> Sheet[FigureLine]:
    """Figures: a line an hour or day and key, and one more for each currency of it."""
    counts, money = _part(_counts_of), _part(_money_of)
    windows = tuple(
        (f"{kind}_{name}", counts(_window(kind, figure)))
        for kind in WINDOWS
        for name, figure in _WINDOW_FIGURES
    )
    return Sheet(
        (
            ("starts_at", lambda line: line.row.starts_at),
            ("key", lambda line: line.row.key),
            ("rounds", counts(lambda row: row.rounds)),
            ("settled", counts(lambda row: row.settled)),
            ("cancelled", counts(lambda row: sum(row.cancelled.values()))),
            ("cancelled_by_reason", counts(lambda row: _by_reason(row.cancelled))),
            ("corrected", counts(lambda row: row.corrected)),
            ("active_hours", counts(lambda row: row.active_hours)),
            ("rounds_an_hour_milli", counts(lambda row: row.rounds_an_hour_milli)),
            ("bets_declined", counts(lambda row: sum(row.bets_declined.values()))),
            ("bets_declined_by_reason", counts(lambda row: _by_reason(row.bets_declined))),
            ("by_platform", counts(lambda row: row.by_platform)),
            *windows,
            ("currency", money(lambda one: one.currency)),
            ("players", money(lambda one: one.players)),
            ("turnover", money(lambda one: one.turnover)),
            ("returned", money(lambda one: one.returned)),
            ("ggr", money(lambda one: one.ggr)),
            ("hold_ppm", money(lambda one: one.hold_ppm)),
            ("tips", money(lambda one: one.tips)),
            ("jackpot_won", money(lambda one: one.jackpot_won)),
        ),
        lambda _: "",
    )


def figure_lines(rows: Sequence[f.FigureRow]) -> Iterator[FigureLine]:
    """The lines of figures."""
    for row in rows:
        yield FigureLine(row, row, None)
        for money in row.money:
            yield FigureLine(row, None, money)


_WINDOW_FIGURES: Final[tuple[tuple[str, Callable[[f.WindowFigures], int]], ...]] = (
    ("windows", lambda one: one.windows),
    ("total_ms", lambda one: one.total_ms),
    ("extended_ms", lambda one: one.extended_ms),
)


def _part(
    part: Callable[[R], P | None],
) -> Callable[[Callable[[P], Cell]], Callable[[R], Cell]]:
    """Columns of a part that a row may lack: empty there."""

    def column(value: Callable[[P], Cell]) -> Callable[[R], Cell]:
        def cell(row: R) -> Cell:
            found = part(row)
            return None if found is None else value(found)

        return cell

    return column


def _hand_of_line(line: RoundLine) -> r.DealerHand | None:
    return line.row.dealer


def _hand_of_player(row: r.PlayerRound) -> r.DealerHand | None:
    return row.dealer


def _sums_of(line: RoundLine) -> r.CurrencySum | None:
    return line.sums


def _line_of(row: StatementRow) -> r.StatementLine | None:
    return row.line


def _counts_of(line: FigureLine) -> f.FigureRow | None:
    return line.counts


def _money_of(line: FigureLine) -> f.Money | None:
    return line.money


def _window(kind: str, figure: Callable[[f.WindowFigures], int]) -> Callable[[f.FigureRow], Cell]:
    return lambda row: figure(row.windows[kind]) if kind in row.windows else 0


def _by_reason(counts: Mapping[str, int]) -> str | None:
    return " ".join(f"{reason}:{count}" for reason, count in sorted(counts.items())) or None


def _boxes(boxes: Sequence[Mapping[str, Any]]) -> str | None:
    """Such as `box 2 win: ante 100 returned 100, bet 200 returned 600; box 3 folded: ante 100 returned 0`."""
    texts = []
    for box in boxes:
        lines = [f"{line['wager']} {line['stake']} returned {line['returned']}" for line in box["lines"]]
        texts.append(f"box {box['box']} {box['outcome']}: {', '.join(lines)}")
    return "; ".join(texts) or None
