"""Where the project lies, for what is kept in it: the cache and the data of `make stack`."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_SETTING = "UPCARD_PROJECT"


def project_folder() -> Path:
    """The checkout: what UPCARD_PROJECT names, or the folder above this package, or where we are."""
    named = os.environ.get(FOLDER_SETTING)
    if named:
        return Path(named)
    above = Path(__file__).resolve().parents
    return next((folder for folder in above if (folder / "libs" / "stack").is_dir()), Path.cwd())


def cache_folder() -> Path:
    """What can be fetched again; git ignores it."""
    return project_folder() / ".cache"


def stack_folder() -> Path:
    """The data of `make stack`; git ignores it."""
    return project_folder() / ".stack"
