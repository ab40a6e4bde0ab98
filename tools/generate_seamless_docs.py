"""Write the tables of docs/seamless.md: what follows from each answer, and how dialects differ.

`--check` writes nothing: it says what is not as the data says, and exits with 1 if there is anything.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from upcard_seamless.answers import ANSWERS
from upcard_seamless.calls import CallKind
from upcard_seamless.decisions import MONEY, NEXT, ROWS, STATES, Of, Row
from upcard_seamless.dialects import Dialect, load_dialect, shipped_dialects

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "seamless.md"

_TITLES: Final[dict[tuple[CallKind, Of | None], str]] = {
    ("balance", None): "Balance",
    ("bet", None): "Bet",
    ("win", None): "Win",
    ("rollback", "bet_held"): "Rollback of a bet that is held",
    ("rollback", "bet_unknown"): "Rollback of a bet whose end nobody knows",
    ("rollback", "win"): "Rollback of a win",
}


class MarkMissing(Exception):
    """The page lacks a mark between which a table belongs."""


def decisions() -> str:
    """The decision table, a section for each kind of call; answers with one consequence share a line."""
    text = "".join(f"| `{word}` | {meaning} |\n" for word, meaning in ANSWERS.items())
    sections = [f"| answer | what it is |\n|---|---|\n{text}"]
    for (call, of), title in _TITLES.items():
        rows = [row for row in ROWS if (row.call, row.of) == (call, of)]
        lines = "".join(map(_line, _grouped(rows)))
        head = "| answer | our state | next call | money | message | why |\n|---|---|---|---|---|---|\n"
        sections.append(f"### {title}\n\n{head}{lines}")
    return "\n".join(sections)


def _grouped(rows: Iterable[Row]) -> Iterator[list[Row]]:
    for _, group in groupby(rows, key=lambda row: (row.state, row.then, row.money, row.message, row.why)):
        yield list(group)


def _line(rows: Sequence[Row]) -> str:
    row = rows[0]
    answers = ", ".join(f"`{one.answer}`" for one in rows)
    message = f"`{row.message}`" if row.message else "none"
    cells = answers, STATES[row.state], NEXT[row.then], MONEY[row.money], message, row.why
    return "| " + " | ".join(cells) + " |\n"


def dialects() -> str:
    """How the shipped dialects differ."""
    found = [load_dialect(name) for name in shipped_dialects()]
    head = "| | " + " | ".join(f"`{one.name}`" for one in found) + " |\n" + "|---" * (1 + len(found)) + "|\n"
    lines: list[tuple[str, list[str]]] = [
        ("transactions", [str(one.transactions) for one in found]),
        ("amounts", [_amounts(one) for one in found]),
        ("signature", [_signature(one) for one in found]),
        *((f"`{kind}`", [f"`POST {one.calls[kind].path}`" for one in found]) for kind in found[0].calls),
        ("HTTP statuses that are read", [_numbers(one) for one in found]),
        ("done before", [f"`{one.repeated}`" for one in found]),
        ("rollback of something unknown", [f"`{one.unknown_rollback}`" for one in found]),
    ]
    return head + "".join(f"| {name} | " + " | ".join(cells) + " |\n" for name, cells in lines)


def _amounts(dialect: Dialect) -> str:
    units = dialect.amounts
    return f"{units.factor:,} a {units.unit} unit, {units.written}"


def _signature(dialect: Dialect) -> str:
    made = dialect.signature
    return f"`{made.header}`: {made.scheme} of the body, {made.encoding}"


def _numbers(dialect: Dialect) -> str:
    return ", ".join(map(str, sorted(dialect.answer.statuses)))


def page(text: str) -> str:
    """The page with its tables as the data has them. Raises MarkMissing."""
    for name, made in (("decisions", decisions()), ("dialects", dialects())):
        begin, end = f"<!-- {name}: made by tools/generate_seamless_docs.py -->\n", f"<!-- {name}: end -->\n"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise MarkMissing(f"docs/seamless.md lacks the marks of its table of {name}")
        text = f"{before}{begin}\n{made}\n{end}{after}"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or say that it is not as the data says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if the page is out of date")
    checking = parser.parse_args(arguments).check
    before = PAGE.read_text(encoding="utf-8")
    after = page(before)
    if before == after:
        return 0
    if checking:
        sys.stderr.write("docs/seamless.md: its tables are not as libs/seamless has them\n")
        return 1
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
