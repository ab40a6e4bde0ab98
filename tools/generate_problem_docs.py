"""Write docs/problems.md: every problem that the platform API answers with.

`--check` writes nothing: it says whether the page is as the code says, and exits with 1 if it is not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from upcard_platform.problems import PROBLEMS, ProblemBody

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "problems.md"

_INTRODUCTION: Final = """\
# Problems of the platform API

Made from the code by `tools/generate_problem_docs.py`; a test holds that it is up to date.

A call that is not done is answered with `application/problem+json` (RFC 9457). Programs look at `code`, which
never changes its meaning; people read `detail`. What every problem says:

| member | meaning |
|---|---|
"""

_MONEY: Final = """
`money` is what happened to money because of this call, and of all calls before it with its `request_id`:

- `none_moved`: nothing, and nothing will.
- `moved_once`: what was asked for was done, exactly once.
- `unknown`: it is not known yet. Repeat the call with the same `request_id` until another answer comes:
  whatever was begun is finished or undone once, never twice.

`retry` is whether to try again:

- `never`: the same call gets the same answer for ever.
- `same_request`: send the same body with the same `request_id` again, signed anew, after `retry_after_s`
  (which is also in the header Retry-After); longer pauses each time.
- `after_change`: first mend what `detail` names; then call with a new `request_id`.

## All problems

| code | status | what it is | money | retry | what to do |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    fields = ProblemBody.model_fields
    members = "".join(f"| `{name}` | {field.description} |\n" for name, field in fields.items())
    rows = "".join(
        f"| `{code}` | {kind.status} | {kind.title} | `{kind.money}` | `{kind.retry}` | {kind.advice} |\n"
        for code, kind in sorted(PROBLEMS.items())
    )
    return f"{_INTRODUCTION}{members}{_MONEY}{rows}"


def main() -> int:
    """Run the tool; 1 when `--check` found a difference."""
    parser = argparse.ArgumentParser(description="Write the page of the platform API's problems.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if it differs")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        print(f"{PAGE.name}: not what the code says")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
