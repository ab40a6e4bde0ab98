"""`python -m upcard_operate.local`: keep the servers and all services running, and say where they are."""

from __future__ import annotations

import sys

from stack import Stack, StackError
from upcard_operate.local.fleet import Fleet
from upcard_operate.local.process import ServiceFailed
from upcard_operate.local.running import announced, working_folder


def main() -> int:
    """Run until interrupted."""
    try:
        with working_folder() as folder, Stack() as stack, Fleet(stack, folder) as fleet:
            sys.stdout.write("Upcard runs:\n")
            announced(fleet, folder)
    except (ServiceFailed, StackError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
