"""The statement of figures, put together from what is asked.

Sums of a round come from its totals, a row a currency, however many players there were. Only where operators
are asked for, a row a player is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_history.adapters.postgres.rows import DEALER_OF, SHIFT_OF
from upcard_history.app.figures import Dimension, FigureQuery

LIMIT: Final = 200_000
"""Most rows of the statement: more than any answer may have, with each of its reasons and currencies."""

_ASKED: Final = """
WITH asked AS (
    SELECT $1::text AS period, $2::text AS zone, $3::timestamptz AS since, $4::timestamptz AS until,
           $5::text AS table_id, $6::text AS dealer, $7::text AS shift, $8::text AS ruleset,
           $9::text AS operator, $10::text AS currency
)"""

_OPERATOR_OF: Final = """
(SELECT a.operator FROM accounts_view.accounts AS a WHERE a.player = {player} ORDER BY a.currency LIMIT 1)
"""

_KEYS: Final[Mapping[Dimension, str]] = {
    "all": "NULL::text",
    "table": "c.table_id",
    "dealer": "c.dealer",
    "shift": "c.shift",
    "ruleset": "c.ruleset",
    "operator": "a.operator",
    "currency": "p.currency",
}
_TIP_SHIFT: Final = """
(SELECT s.subject FROM (
    SELECT s.subject, s.until FROM tables_view.spans AS s
     WHERE s.table_id = l.table_id AND s.kind = 'shift' AND s.since <= l.at
     ORDER BY s.since DESC, s.position DESC LIMIT 1
 ) AS s WHERE s.until IS NULL OR s.until > l.at)
"""
_TIP_KEYS: Final[Mapping[Dimension, str]] = {
    "all": "NULL::text",
    "table": "l.table_id",
    "dealer": "l.dealer",
    "shift": _TIP_SHIFT,
    "ruleset": "NULL::text",
    "operator": "a.operator",
    "currency": "a.currency",
}

CHECK: Final = """
SELECT date_trunc($1::text, $3::timestamptz, $2::text) = $3
   AND date_trunc($1::text, $4::timestamptz, $2::text) = $4
"""
"""Whether both ends are whole hours or days of the zone."""

ZONE: Final = "SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = $1)"


class FigureSql:
    """The one statement of a query: `chosen` rounds are looked up once, and all sums are made of them.

    Its rows: what, starts_at, key, name, other name, and up to three numbers.
    """

    def __init__(self, query: FigureQuery) -> None:
        self._by = query.by
        self._query = query
        by_people = query.by in {"operator", "currency"}
        self._of_people = by_people or query.operator is not None or query.currency is not None
        """Whether a round counts only with the players that are asked for."""

    @property
    def arguments(self) -> tuple[object, ...]:
        """The arguments of the statement."""
        q = self._query
        when = (q.period, q.zone, q.since, q.until)
        return (*when, q.table, q.dealer, q.shift, q.ruleset, q.operator, q.currency)

    def statement(self) -> str:
        """The statement."""
        parts = (
            self._rounds(),
            self._hours(),
            self._windows(),
            self._declines(),
            self._by_platform(),
            self._money(),
            self._jackpots(),
            self._tips(),
        )
        return f"{self._chosen()}, {self._keyed()} {' UNION ALL '.join(parts)} LIMIT {LIMIT}"

    def _chosen(self) -> str:
        """The rounds that ended in the time and are asked for: `chosen`."""
        q = self._query
        dealer = DEALER_OF if q.by == "dealer" or q.dealer is not None else "NULL::text"
        shift = SHIFT_OF if q.by == "shift" or q.shift is not None else "NULL::text"
        return f"""{_ASKED}, ended AS MATERIALIZED (
    SELECT r.round, r.table_id, r.ruleset, r.state, r.reason, r.corrections,
           date_trunc($1, r.ended_at, $2) AS starts_at, date_trunc('hour', r.ended_at, $2) AS hour,
           {dealer} AS dealer, {shift} AS shift
      FROM rounds_view.rounds AS r
     WHERE r.ended_at >= $3 AND r.ended_at < $4
       AND ($5::text IS NULL OR r.table_id = $5) AND ($8::text IS NULL OR r.ruleset = $8)
), chosen AS (
    SELECT * FROM ended
     WHERE ($6::text IS NULL OR dealer = $6) AND ($7::text IS NULL OR shift = $7)
)"""  # noqa: S608 - nothing but constants is put in

    def _people(self) -> str:
        """Joins players of the chosen rounds, and their operators."""
        return """
  JOIN rounds_view.players AS p ON p.round = c.round AND (p.staked > 0 OR p.revision > 0)
  LEFT JOIN accounts_view.accounts AS a ON a.player = p.player AND a.currency = p.currency
 WHERE ($9::text IS NULL OR a.operator = $9) AND ($10::text IS NULL OR p.currency = $10)"""

    def _keyed(self) -> str:
        """Rounds with the key that they count under, each once a key: `keyed`."""
        columns = "c.round, c.table_id, c.state, c.reason, c.corrections, c.starts_at, c.hour"
        distinct, people = ("DISTINCT", self._people()) if self._of_people else ("", "")
        return (
            f"""keyed AS (SELECT {distinct} {columns}, {_KEYS[self._by]} AS key FROM chosen AS c {people})"""  # noqa: S608 - constants
        )

    def _rounds(self) -> str:
        """State, reason; rounds, corrected ones."""
        return """
SELECT 'rounds' AS what, starts_at, key, state AS name, reason AS other, count(*) AS a,
       count(*) FILTER (WHERE corrections > 0) AS b, 0::bigint AS c
  FROM keyed GROUP BY starts_at, key, state, reason"""

    def _hours(self) -> str:
        """Hours of tables."""
        return """
SELECT 'hours', starts_at, key, '', '', count(*), 0, 0
  FROM (SELECT DISTINCT starts_at, key, table_id, hour FROM keyed) AS k GROUP BY starts_at, key"""

    def _windows(self) -> str:
        """Kind; windows, milliseconds, extended by."""
        return """
SELECT 'windows', k.starts_at, k.key, w.kind, '', count(*), sum(w.open_ms)::bigint,
       sum(w.extended_ms)::bigint
  FROM keyed AS k JOIN rounds_view.windows AS w ON w.round = k.round AND w.closed_at IS NOT NULL
 GROUP BY k.starts_at, k.key, w.kind"""

    def _declines(self) -> str:
        """Reason; declined bets. Who was declined need have no bet in the round."""
        operator = _OPERATOR_OF.format(player="d.player")
        keys = {**_KEYS, "operator": operator, "currency": "nullif(d.currency, '')"}
        return f"""
SELECT 'declines', c.starts_at, {keys[self._by]}, d.reason, '', sum(d.number)::bigint, 0, 0
  FROM chosen AS c JOIN rounds_view.declines AS d ON d.round = c.round
 WHERE ($9::text IS NULL OR {operator} = $9) AND ($10::text IS NULL OR d.currency = $10)
 GROUP BY 2, 3, 4"""  # noqa: S608 - constants

    def _by_platform(self) -> str:
        """Decisions."""
        return f"""
SELECT 'by_platform', c.starts_at, {_KEYS[self._by]}, '', '', sum(p.by_platform)::bigint, 0, 0
  FROM chosen AS c {self._people()} AND p.by_platform > 0 GROUP BY 2, 3"""  # noqa: S608 - constants

    def _money(self) -> str:
        """Currency; players, staked, returned; of settled rounds."""
        if self._by == "operator" or self._query.operator is not None:
            return f"""
SELECT 'money', c.starts_at, {_KEYS[self._by]}, p.currency, '', count(*), sum(p.staked)::bigint,
       sum(p.returned)::bigint
  FROM chosen AS c {self._people()} AND c.state = 'settled' AND p.revision > 0 GROUP BY 2, 3, 4"""  # noqa: S608 - constants
        return f"""
SELECT 'money', c.starts_at, {_KEYS[self._by]}, p.currency, '', sum(p.players)::bigint,
       sum(p.staked)::bigint, sum(p.returned)::bigint
  FROM chosen AS c JOIN rounds_view.round_totals AS p ON p.round = c.round
 WHERE c.state = 'settled' AND ($10::text IS NULL OR p.currency = $10) GROUP BY 2, 3, 4"""  # noqa: S608 - constants

    def _jackpots(self) -> str:
        """Currency; won: what was taken back later, or is owed since, is not."""
        keys = {**_KEYS, "currency": "a.currency"}
        return f"""
SELECT 'jackpots', c.starts_at, {keys[self._by]}, a.currency, '', sum(l.cash - l.owed)::bigint, 0, 0
  FROM chosen AS c
  JOIN accounts_view.lines AS l ON l.round = c.round AND l.kind IN ('jackpot', 'jackpot_correction')
  JOIN accounts_view.accounts AS a ON a.account = l.account
 WHERE ($9::text IS NULL OR a.operator = $9) AND ($10::text IS NULL OR a.currency = $10)
 GROUP BY 2, 3, 4"""  # noqa: S608 - constants

    def _tips(self) -> str:
        """Currency; tips. A tip is of no round, so of no ruleset."""
        return f"""
SELECT 'tips', date_trunc($1, l.at, $2), {_TIP_KEYS[self._by]}, a.currency, '', sum(-l.cash)::bigint, 0, 0
  FROM accounts_view.lines AS l JOIN accounts_view.accounts AS a ON a.account = l.account
 WHERE l.kind = 'tip' AND l.at >= $3 AND l.at < $4
   AND ($5::text IS NULL OR l.table_id = $5) AND ($6::text IS NULL OR l.dealer = $6)
   AND ($7::text IS NULL OR {_TIP_SHIFT} = $7) AND $8::text IS NULL
   AND ($9::text IS NULL OR a.operator = $9) AND ($10::text IS NULL OR a.currency = $10)
 GROUP BY 2, 3, 4"""  # noqa: S608 - constants
