"""Write docs/wallet-events.md: the wallet's events from their dataclasses, and what it reads of others'.

`--check` writes nothing: it exits with 1 when the page is not as it should be.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

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
| `FreeBetGranted` | `free_bet`, `player`, `currency`, `amount` |
| `FreeBetExpired` | `free_bet` |

An event of a newer version than the wallet knows stops the wallet: it is upgraded before the service that
writes such events. One that cannot be applied (a settled player without an account, a payload that is not of
its form) is parked with the rest of its stream, and an alarm.
"""


def page() -> str:
    """The whole page."""
    events = [_event(name, version, kind) for name, (version, kind) in EVENT_TYPES.items()]
    inside = f"# Objects inside\n\n{_section(HeldWager.__name__, HeldWager)}"
    return "\n".join([_INTRODUCTION, *events, inside, _READ])


def _event(name: str, version: int, kind: type[Any]) -> str:
    return _section(f"{name}, version {version}", kind)


def _section(title: str, kind: type[Any]) -> str:
    hints = get_type_hints(kind, include_extras=True)
    rows = [_row(field, hints[field.name]) for field in dataclasses.fields(kind)]
    table = "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])
    return f"## {title}\n\n{_meaning(kind)}\n\n{table}\n"


def _meaning(kind: type[Any]) -> str:
    lines = (line.strip() for line in (kind.__doc__ or "").strip().splitlines())
    return "\n".join(lines)


def _row(field: dataclasses.Field[Any], hint: object) -> str:
    meaning = ""
    if get_origin(hint) is Annotated:
        hint, meaning = get_args(hint)[:2]
    default = "required" if field.default is dataclasses.MISSING else f"`{json.dumps(field.default)}`"
    return f"| `{field.name}` | {_type(hint)} | {default} | {meaning} |"


def _type(hint: object) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in {Union, UnionType}:
        return " or ".join(map(_type, arguments))
    if origin is Literal:
        return " or ".join(f"`{json.dumps(word)}`" for word in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return {str: "string", int: "integer", NoneType: "null"}[hint]  # type: ignore[index] # nothing else is in events


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description="Write the page about the wallet's events.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if it differs")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    differs = not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page()
    if differs:
        print(f"{PAGE.name}: not what the code says")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
