"""Write docs/wallet-events.md and docs/events/wallet: the wallet's events, and what it reads of others'.

`--check` writes nothing: it prints what is not as the code says, and exits with 1 if there is anything.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from tools import event_schemas
from tools.event_sections import section
from upcard_wallet.app.follow_rounds import FOLLOWED
from upcard_wallet.domain.events import EVENT_TYPES, HeldWager

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "wallet-events.md"

_INTRODUCTION: Final = """\
# The wallet's events

Made from the code by `tools/generate_wallet_event_docs.py`; a test holds that it is up to date. What an event
is, and what stands beside its payload, says [CONTRACTS.md](CONTRACTS.md), section 2.

- Stream `account-<account>`, one an account; `JackpotPosted` is in the stream of its pool.
- Topic `upcard.wallet.v1`; table, bonus, history and gateway may read the log over the event feed.
- Amounts are integers in minor units of the account's currency. A field that has a default is left out when
  it holds it.
- An event that moved money names the ledger's transaction; that names the event of another service that led
  to it, as does the event's own `causation_id`.
- Schemas of the payloads: [events/wallet](events/wallet).
- A round `tip-….1` is no round: under such a name the money of one tip of a seamless player is held.
- `actor`: who was vouched for in the call; of holds `player:<id>`, or `platform` for a bet by default;
  `system` for what follows from other services' events.
"""

_READ: Final = f"""\
# What the wallet reads of other services' events

Of the table's rounds: {", ".join(f"`{name}`" for name in sorted(FOLLOWED))} ([events.md](events.md)).

Of the bonus service's streams `jackpot-` and `freebet-`, all of version 1; fields that are not named here are
not looked at:

| event | fields |
|---|---|
| `JackpotSeeded` | `jackpot`, `operator` (whose house pays), `currency`, `amount` |
| `JackpotContributed` | the same, and `round` |
| `JackpotHit` | `jackpot`, `operator` (whose house pays what the pool lacks), `currency`, `round`, \
`shares`: objects with `player`, `amount` |
| `JackpotCorrected` | `jackpot`, `operator`, `currency`, `round`, `pool_change`, `changes`: objects with \
`player`, `amount`; both signed, and their sum is what the house pays |
| `FreeBetGranted` | `free_bet`, `player`, `currency`, `amount` |
| `FreeBetExpired` | `free_bet` |

An event of a newer version than the wallet knows stops the wallet: it is upgraded before the service that
writes such events. One that cannot be applied (a settled player without an account, a payload that is not of
its form) is parked with the rest of its stream, and an alarm.
"""


def page() -> str:
    """The whole page."""
    events = [section(f"{name}, version {version}", kind) for name, (version, kind) in EVENT_TYPES.items()]
    inside = f"# Objects inside\n\n{section(HeldWager.__name__, HeldWager)}"
    return "\n".join([_INTRODUCTION, *events, inside, _READ])


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description="Write the page and the schemas of the wallet's events.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something differs"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        event_schemas.write("wallet", EVENT_TYPES)
    differing = event_schemas.outdated("wallet", EVENT_TYPES)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        differing.append(PAGE.name)
    for name in differing:
        print(f"{name}: not what the code says")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
