"""Write docs/events.md and docs/events/*.schema.json from the events of rules_core.

`--check` writes nothing: it prints the names of the documents that are not as they should be, and exits with
1 if there are any. Schemas of older versions stay; they are not made again.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from rules_core.round.codec import VERSIONS
from rules_core.round.describe import documents

DOCS = Path(__file__).resolve().parents[1] / "docs"
_SCHEMA_NAME = re.compile(r"([A-Za-z]+)\.v([1-9][0-9]*)\.schema\.json")


def outdated(docs: Path) -> list[str]:
    """Names of the documents under `docs` that are missing, differ, or belong to no event."""
    wanted = {name: text.encode() for name, text in documents().items()}
    differing = [name for name, text in wanted.items() if not _holds(docs / name, text)]
    # Services' schemas lie in folders of their own, which are theirs.
    files = (path for path in sorted((docs / "events").glob("*")) if path.is_file())
    there = (path.relative_to(docs).as_posix() for path in files)
    return differing + [name for name in there if name not in wanted and not _is_older(name)]


def _holds(path: Path, text: bytes) -> bool:
    return path.is_file() and path.read_bytes() == text


def _is_older(name: str) -> bool:
    """Whether this is the schema of a version that events once had."""
    found = _SCHEMA_NAME.fullmatch(name.removeprefix("events/"))
    return found is not None and int(found[2]) < VERSIONS.get(found[1], 0)


def write(docs: Path) -> None:
    """Write every document that is not as it should be."""
    for name, text in documents().items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _holds(path, text.encode()):
            path.write_bytes(text.encode())


def main() -> int:
    """Run the tool; 1 when `--check` found something."""
    parser = argparse.ArgumentParser(description="Write the documents about events.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if something differs"
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the documents")
    arguments = parser.parse_args()
    if not arguments.check:
        write(arguments.docs)
    differing = outdated(arguments.docs)
    for name in differing:
        print(name)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
