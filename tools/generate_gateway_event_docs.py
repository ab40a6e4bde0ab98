"""Write docs/gateway-events.md and docs/events/gateway: the gateway's own events.

`--check` writes nothing: it prints what is not as the code says, and exits with 1 if there is anything.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from tools import event_schemas
from tools.event_sections import section
from upcard_gateway.domain import operators, sessions, staff

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "gateway-events.md"
TYPES: Final[event_schemas.EventTypes] = {
    **operators.EVENT_TYPES,
    **sessions.EVENT_TYPES,
    **staff.EVENT_TYPES,
}

_INTRODUCTION: Final = """\
# The gateway's events

Made from the code by `tools/generate_gateway_event_docs.py`; a test holds that it is up to date. What an
event is, and what stands beside its payload, says [CONTRACTS.md](CONTRACTS.md), section 2.

- They stay in the gateway's own log and are not published; the history may read them over the event feed.
- No event names a person: a player is an opaque id, and who that is lies in one table that can be erased.
- No event has a secret.
- A field that has a default is left out when it holds it. Schemas of the payloads:
  [events/gateway](events/gateway).

# Operators: stream `partner-<operator>`

`actor` is the member of staff who did it.
"""

_SESSIONS: Final = "# Sessions of players: stream `session-<id>`\n"
_STAFF: Final = """\
# Staff: stream `staff-<staff>`

`actor` is the member of staff who did it, or `system`. What somebody does at a page is a `StaffActionAsked`
before it, and a `StaffActionAnswered` behind it. Tries to sign in with names that nobody has are in
`staff-unknown`.
"""


def page() -> str:
    """The whole page."""
    of_operators = [
        section(f"{name}, version {version}", kind) for name, (version, kind) in operators.EVENT_TYPES.items()
    ]
    of_sessions = [
        section(f"{name}, version {version}", kind) for name, (version, kind) in sessions.EVENT_TYPES.items()
    ]
    of_staff = [
        section(f"{name}, version {version}", kind) for name, (version, kind) in staff.EVENT_TYPES.items()
    ]
    inside = [section(kind.__name__, kind) for kind in (operators.Terms, operators.CurrencyLimits)]
    return "\n".join(
        [
            _INTRODUCTION,
            *of_operators,
            _SESSIONS,
            *of_sessions,
            _STAFF,
            *of_staff,
            "# Objects inside\n",
            *inside,
        ]
    )


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description="Write the page and the schemas of the gateway's events.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something differs"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        event_schemas.write("gateway", TYPES)
    differing = event_schemas.outdated("gateway", TYPES)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        differing.append(PAGE.name)
    for name in differing:
        print(f"{name}: not what the code says")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
