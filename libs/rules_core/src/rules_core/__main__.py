"""`python -m rules_core`: the command line (CONTRACTS.md section 1; docs/command-line.md)."""

from __future__ import annotations

import sys

from rules_core.command_line.program import run

if __name__ == "__main__":
    sys.exit(run())
