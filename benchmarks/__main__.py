"""All benchmarks in a row: `python -m benchmarks [--quick]`; their meaning is in docs/performance.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run every bench_*.py beside this file as a program of its own; the worst exit code is this one's."""
    worst = 0
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"\n=== {path.name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{path.stem}", *sys.argv[1:]], check=False)
        worst = max(worst, abs(done.returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main())
