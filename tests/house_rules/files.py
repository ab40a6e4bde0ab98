"""The repository's own files, as git sees them: tracked, and new ones that nothing ignores."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "libs" / "rules_core" / "src" / "rules_core"


@functools.cache
def repository_files() -> tuple[Path, ...]:
    """Every file that is, or would be, committed; paths relative to ROOT."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(sorted(Path(name) for name in listing.split("\0") if name and (ROOT / name).is_file()))


@functools.cache
def python_files() -> tuple[Path, ...]:
    """Every Python file of the repository; paths relative to ROOT."""
    return tuple(path for path in repository_files() if path.suffix == ".py")


@functools.cache
def text_of(path: Path) -> str:
    """The text of a repository file; empty for a file that is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
