"""Write docs/bonus-events.md and docs/events/bonus: the bonus service's events, from their dataclasses.

`--check` writes nothing: it exits with 1 when something is not as it should be.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from tools import event_schemas
from tools.event_sections import section
from upcard_bonus.app.round_facts import FOLLOWED
from upcard_bonus.domain.events import EVENT_TYPES
from upcard_bonus.domain.jackpot_events import (
    JackpotSettings,
    JackpotShare,
    Opening,
    SecretSize,
    ShareChange,
)
from upcard_bonus.domain.side_bet_events import BonusStake, VoidTotal

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "bonus-events.md"

_INSIDE: Final[tuple[type[Any], ...]] = (
    BonusStake,
    VoidTotal,
    JackpotSettings,
    SecretSize,
    JackpotShare,
    Opening,
    ShareChange,
)

_INTRODUCTION: Final = """\
# The bonus service's events

Made from the code by `tools/generate_bonus_event_docs.py`; a test holds that it is up to date. What an event
is, and what stands beside its payload, says [CONTRACTS.md](CONTRACTS.md), section 2; what leads to them is in
[bonus.md](bonus.md).

- Streams `bonus-<table>.<number>` (side bets of a round; they move no money), `jackpot-<jackpot>`,
  `freebet-<free bet>`. A jackpot's stream is the order of all that happens to it, across tables.
- Topic `upcard.bonus.v1`; table, wallet, history and gateway may read the log over the event feed.
- Amounts are integers in minor units of the currency beside them. A field that has a default is left out when
  it holds it.
- What follows from a round's event names it as `causation_id`, has its `correlation_id`, and
  the actor `system`.
"""

_READ: Final = f"""\
# What is read of other services' events

Of the table's rounds: {", ".join(f"`{name}`" for name in sorted(FOLLOWED))} ([events.md](events.md)).
"""


def page() -> str:
    """The whole page."""
    events = [section(f"{name}, version {version}", kind) for name, (version, kind) in EVENT_TYPES.items()]
    inside = [section(kind.__name__, kind) for kind in _INSIDE]
    return "\n".join([_INTRODUCTION, *events, "# Objects inside\n", *inside, _READ])


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(
        description="Write the page and the schemas of the bonus service's events."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something differs"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        event_schemas.write("bonus", EVENT_TYPES)
    differing = event_schemas.outdated("bonus", EVENT_TYPES)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        differing.append(PAGE.name)
    for name in differing:
        print(f"{name}: not what the code says")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
