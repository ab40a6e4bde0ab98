"""Folders for servers that may run as another account."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.folders import folder_for_tests


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder of this file that every account can pass into: pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="upcard-test-", dir=folder_for_tests()))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
