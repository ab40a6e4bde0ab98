"""Changes of rounds as rows and statements: each is run once for all rounds of a batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rules_core.cards import card_text
from rules_core.settlement.result_json import box_object
from upcard_history.domain.instants import instant, instant_or_none
from upcard_history.domain.round_changes import Ending, RoundChanges

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, which takes a list a column, and its rows."""

    sql: str
    rows: list[Row]


_OPEN: Final = """
INSERT INTO {schema}.rounds (round, table_id, number, ruleset, engine, deck, shared, opened_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[],
                     $7::boolean[], $8::timestamptz[])
"""
# A correction says nothing of state and time.
_END: Final = """
UPDATE {schema}.rounds AS r
   SET state = coalesce(u.state, r.state), reason = coalesce(u.reason, r.reason),
       ended_at = coalesce(u.ended_at, r.ended_at), corrections = coalesce(u.corrections, r.corrections),
       dealer_first = u.dealer_first, dealer_final = u.dealer_final,
       dealer_cards = string_to_array(u.cards, ' '), dealer_qualified = u.qualified,
       dealer_purchased = u.purchased
  FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::integer[], $6::text[], $7::text[],
              $8::text[], $9::boolean[], $10::boolean[])
    AS u (round, state, reason, ended_at, corrections, dealer_first, dealer_final, cards, qualified,
          purchased)
 WHERE r.round = u.round
"""
_TOTALS: Final = """
INSERT INTO {schema}.round_totals AS t (round, currency, players, staked, returned)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
ON CONFLICT (round, currency) DO UPDATE
   SET players = excluded.players, staked = excluded.staked, returned = excluded.returned
"""
_JOIN: Final = """
INSERT INTO {schema}.players (round, player, currency, opened_at)
SELECT u.round, u.player, u.currency, r.opened_at
  FROM unnest($1::text[], $2::text[], $3::text[]) AS u (round, player, currency)
  JOIN {schema}.rounds AS r USING (round)
ON CONFLICT (round, player) DO NOTHING
"""
_PLAYERS: Final = """
UPDATE {schema}.players AS p
   SET staked = coalesce(u.staked, p.staked + u.staked_more), by_platform = p.by_platform + u.by_platform,
       returned = coalesce(u.returned, p.returned), revision = coalesce(u.revision, p.revision),
       boxes = coalesce(u.boxes::jsonb, p.boxes)
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::bigint[], $7::bigint[],
              $8::text[])
    AS u (round, player, staked_more, by_platform, revision, staked, returned, boxes)
 WHERE p.round = u.round AND p.player = u.player
"""
_REVEAL: Final = "UPDATE {schema}.bets SET hidden = false WHERE round = ANY ($1::text[]) AND hidden"
_BETS: Final = """
INSERT INTO {schema}.bets AS b (round, player, box, wager, amount, blind, hidden)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::boolean[],
                     $7::boolean[])
ON CONFLICT (round, player, box, wager) DO UPDATE
   SET amount = b.amount + excluded.amount, hidden = excluded.hidden
"""
_NO_BETS: Final = "DELETE FROM {schema}.bets WHERE round = ANY ($1::text[]) AND amount = 0"
_BETS_OVER: Final = "DELETE FROM {schema}.bets WHERE round = ANY ($1::text[])"
# At most one window of a round is open.
_WINDOW: Final = """
UPDATE {schema}.windows AS w
   SET closed_at = u.closed_at, extended_ms = w.extended_ms + u.extended_ms,
       open_ms = floor(extract(epoch FROM u.closed_at - w.opened_at) * 1000)
  FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS u (round, closed_at, extended_ms)
 WHERE w.round = u.round AND w.closed_at IS NULL
"""
_NEW_WINDOWS: Final = """
INSERT INTO {schema}.windows (round, position, kind, box, opened_at, closed_at, extended_ms, open_ms)
SELECT u.*, floor(extract(epoch FROM u.closed_at - u.opened_at) * 1000)
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::integer[], $5::timestamptz[], $6::timestamptz[],
              $7::bigint[]) AS u (round, position, kind, box, opened_at, closed_at, extended_ms)
"""
_DECLINES: Final = """
INSERT INTO {schema}.declines AS d (round, player, currency, reason, number)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[])
ON CONFLICT (round, player, currency, reason) DO UPDATE SET number = d.number + excluded.number
"""


def statements(changes: Mapping[str, RoundChanges], shared: Mapping[str, bool]) -> Iterator[Statement]:
    """Everything that is to be run, in this order."""
    yield Statement(_OPEN, list(_opened(changes, shared)))
    yield Statement(_END, list(_ended(changes)))
    yield Statement(_TOTALS, list(_totals(changes)))
    yield Statement(
        _JOIN,
        [
            (name, player, change.currency)
            for name, one in changes.items()
            for player, change in one.players.items()
            if change.currency is not None
        ],
    )
    yield Statement(_PLAYERS, list(_players(changes)))
    yield Statement(_REVEAL, [(name,) for name, one in changes.items() if one.revealed and not one.over])
    bets = list(_bets(changes))
    yield Statement(_BETS, bets)
    yield Statement(_NO_BETS, [(name,) for name in {row[0] for row in bets}])
    yield Statement(_BETS_OVER, [(name,) for name, one in changes.items() if one.over])
    yield from _windows(changes)
    yield Statement(
        _DECLINES,
        [(name, *key, number) for name, one in changes.items() for key, number in one.declined.items()],
    )


def _opened(changes: Mapping[str, RoundChanges], shared: Mapping[str, bool]) -> Iterator[Row]:
    for name, one in changes.items():
        event = one.opened
        if event is not None:
            pinned = (event.table, event.number, event.ruleset, event.engine, event.deck)
            yield (name, *pinned, shared[name], instant(event.opened_at))


def _latest(one: RoundChanges) -> Ending | None:
    return one.corrected or one.ended


def _ended(changes: Mapping[str, RoundChanges]) -> Iterator[Row]:
    for name, one in changes.items():
        latest, first = _latest(one), one.ended
        if latest is None:
            continue
        corrections = one.corrected.correction if one.corrected is not None else None
        ended: Row = (None, None, None) if first is None else (first.state, first.reason, instant(first.at))
        dealer = latest.dealer
        hand: Row = (None,) * 5
        if dealer is not None:
            cards = " ".join(card_text(card) for card in dealer.final_cards)
            hand = (dealer.first, dealer.final, cards, dealer.qualified, dealer.purchased)
        yield (name, *ended, corrections, *hand)


def _totals(changes: Mapping[str, RoundChanges]) -> Iterator[Row]:
    for name, one in changes.items():
        latest = _latest(one)
        if latest is not None:
            for total in latest.totals:
                yield name, total.currency, total.players, total.staked, total.returned


def _players(changes: Mapping[str, RoundChanges]) -> Iterator[Row]:
    for name, one in changes.items():
        for player, change in one.players.items():
            result: Row = (None,) * 4
            if change.settled is not None:
                event = change.settled
                boxes = json.dumps([box_object(box) for box in event.boxes])
                result = (event.revision, event.staked, event.returned, boxes)
            yield (name, player, change.staked_more, change.by_platform, *result)


def _bets(changes: Mapping[str, RoundChanges]) -> Iterator[Row]:
    for name, one in changes.items():
        if not one.over:
            for (player, box, wager), bet in one.bets.items():
                yield name, player, box, wager, bet.more, bet.blind, bet.hidden


def _windows(changes: Mapping[str, RoundChanges]) -> Iterator[Statement]:
    before: list[Row] = []
    new: list[Row] = []
    for name, one in changes.items():
        for window in one.windows:
            closed_at = instant_or_none(window.closed_at)
            if window.kind is None or window.opened_at is None:
                before.append((name, closed_at, window.extended_ms))
                continue
            opened_at = instant(window.opened_at)
            extended = window.extended_ms
            new.append((name, window.position, window.kind, window.box, opened_at, closed_at, extended))
    yield Statement(_WINDOW, before)
    yield Statement(_NEW_WINDOWS, new)
