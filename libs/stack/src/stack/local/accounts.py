"""The account that a server runs as, and what that account can reach.

PostgreSQL refuses to run as root. As root we therefore start it as another account. We never widen the
permissions of a folder that is not ours, and add no account to the machine: programs that the account cannot
reach (an environment below a closed home folder) are linked into a folder that it can, and data has to lie in
one.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stack.errors import StackError

SETTING = "UPCARD_SERVER_USER"
DEFAULT = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """An account of this machine that is not root."""

    name: str
    uid: int
    gid: int

    def reaches(self, path: Path) -> bool:
        """Whether it may pass all folders above a path (which need not exist yet) and read the path."""
        path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links
        for folder in reversed(path.parents):
            if folder.exists() and not self._may(folder.stat(), stat.S_IXUSR):
                return False
        resolved = path.resolve()
        if resolved != path:
            return self.reaches(resolved)
        return not path.exists() or self._may(path.stat(), stat.S_IRUSR | (stat.S_IXUSR * path.is_dir()))

    def _may(self, status: os.stat_result, owner_bits: int) -> bool:
        if status.st_uid == self.uid:
            shift = 0
        elif status.st_gid == self.gid:
            shift = 3
        else:
            shift = 6
        wanted = owner_bits >> shift
        return status.st_mode & wanted == wanted

    def give(self, folder: Path) -> None:
        """Make a folder, open to nobody else, its own."""
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, self.uid, self.gid)


def server_account(environment: Mapping[str, str] = os.environ) -> Account | None:
    """The account for servers that refuse root; None when we are not root and they run as we do.

    Raises:
        StackError: The account named in UPCARD_SERVER_USER does not exist, or is root itself.
    """
    if os.geteuid() != 0:
        return None
    name = environment.get(SETTING) or DEFAULT
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise StackError(
            f"{SETTING}: this machine has no account {name!r} for servers that refuse root"
        ) from None
    if entry.pw_uid == 0:
        raise StackError(f"{SETTING}: {name!r} is root, which PostgreSQL refuses to run as")
    return Account(name, entry.pw_uid, entry.pw_gid)


def linked_copy(tree: Path, name: str) -> Path:
    """A copy of a folder of programs where every account can run them, made once for each version.

    Files are hard links where the file system allows, else copies.
    """
    status = tree.stat()
    target = (
        Path(tempfile.gettempdir()) / f"upcard-{name}-{os.geteuid()}-{status.st_ino:x}-{status.st_mtime_ns:x}"
    )
    if not target.exists():
        draft = Path(tempfile.mkdtemp(prefix=f"{target.name}."))
        try:
            shutil.copytree(tree, draft / "copy", symlinks=True, copy_function=_link_or_copy)
            _open_to_all(draft / "copy")
            (draft / "copy").replace(target)
        except OSError:
            if not target.is_dir():  # else someone was faster
                raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    if target.stat().st_uid != os.geteuid():
        raise StackError(f"{target} was made by another account; programs are not run from there")
    return target


def _open_to_all(tree: Path) -> None:
    """Everyone may read and run what is in a copy of ours. No file is touched that a link shares."""
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink() and not path.stat().st_mode & stat.S_IROTH:
                own = path.with_name(f"{name}.own")
                shutil.copyfile(path, own)
                own.chmod(0o755)
                own.replace(path)


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target
