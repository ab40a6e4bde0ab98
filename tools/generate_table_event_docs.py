"""Write docs/table-events.md: the events of the table's own stream, from their dataclasses.

`--check` writes nothing: it exits with 1 when the page is not as it should be.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from rules_core.round.limits import AmountRange, BoxLimits, CurrencyLimits, Durations
from tools import event_schemas
from tools.event_sections import section
from upcard_table.domain.config import ChipValues, TableConfig
from upcard_table.domain.events import EVENT_TYPES

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "table-events.md"

_INSIDE: Final[tuple[type[Any], ...]] = (
    TableConfig,
    CurrencyLimits,
    AmountRange,
    BoxLimits,
    ChipValues,
    Durations,
)

_INTRODUCTION: Final = """\
# The table's events

Made from the code by `tools/generate_table_event_docs.py`; a test holds that it is up to date. What an event
is, and what stands beside its payload, says [CONTRACTS.md](CONTRACTS.md), section 2; a round's events are in
[events.md](events.md), the rules of a table in [table.md](table.md).

- Stream `table-<table>`, one a table; the rounds' streams are `round-<table>.<number>`.
- Topic `upcard.table.v1`, of both kinds; other services may read the log over the event feed.
- Only the table's owner writes, each append at an exact position.
- Amounts are integers in minor units of the currency beside them. A field that has a default is left out when
  it holds it.
- `actor`: who was vouched for in the call; of a tip the player, whose wallet has posted it before.
"""


def page() -> str:
    """The whole page."""
    events = [section(f"{name}, version {version}", kind) for name, (version, kind) in EVENT_TYPES.items()]
    inside = [section(kind.__name__, kind) for kind in _INSIDE]
    return "\n".join([_INTRODUCTION, *events, "# Objects inside\n", *inside])


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description="Write the page and the schemas of the table's events.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something differs"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        event_schemas.write("table", EVENT_TYPES)
    differing = event_schemas.outdated("table", EVENT_TYPES)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        differing.append(PAGE.name)
    for name in differing:
        print(f"{name}: not what the code says")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
