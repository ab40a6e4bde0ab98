"""What every audited act must say."""

from typing import Final

_LONGEST_BY: Final = 200
_LONGEST_WHY: Final = 1_000


def check_audit(skipped_by: str, why: str) -> None:
    """Raise ValueError unless someone is named, and a reason."""
    if not 0 < len(skipped_by.strip()) <= _LONGEST_BY or not skipped_by.isprintable():
        raise ValueError(f"who skips an event is 1 to {_LONGEST_BY} printable characters, not {skipped_by!r}")
    if not 0 < len(why.strip()) <= _LONGEST_WHY or not why.isprintable():
        raise ValueError(f"why an event is skipped is 1 to {_LONGEST_WHY} printable characters, not {why!r}")
