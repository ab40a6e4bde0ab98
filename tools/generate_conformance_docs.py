"""Write the tables of docs/conformance.md: the kit's cases, and the defects that it finds.

`--check` writes nothing: it prints what is not as the code says, and exits with 1 if there is anything.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from upcard_conformance.kit import CASES
from upcard_conformance.reference.broken import BROKEN

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "conformance.md"


def cases() -> str:
    """The cases, each with its rows of the decision table."""
    lines = ["| case | what has to be true | rows |", "|---|---|---|"]
    lines += [f"| `{one.name}` | {one.title} | {_shortened(one.patterns)} |" for one in CASES]
    return "\n".join(lines)


def defects() -> str:
    """The broken wallets, each with the case that finds it."""
    lines = ["| defect | what it does | found by |", "|---|---|---|"]
    lines += [f"| `{one.name}` | {one.what} | `{one.caught_by}` |" for one in BROKEN.values()]
    return "\n".join(lines)


def _shortened(patterns: tuple[str, ...]) -> str:
    return ", ".join(f"`{one}`" for one in patterns)


def page(text: str) -> str:
    """The page as it should be, from what it is."""
    for name, made in (("cases", cases()), ("defects", defects())):
        before, begin, rest = text.partition(f"<!-- {name}: made by tools/generate_conformance_docs.py -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not begin or not end:
            raise LookupError(f"{PAGE.name} has no place for {name}")
        text = f"{before}{begin}{made}\n{end}{after}"
    return text


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    check = parser.parse_args().check
    now = PAGE.read_text(encoding="utf-8")
    wanted = page(now)
    if check:
        if now != wanted:
            print(f"{PAGE.name} is not what the code says: run `python -m tools.generate_conformance_docs`")
        return int(now != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
