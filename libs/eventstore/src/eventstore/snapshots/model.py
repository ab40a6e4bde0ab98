"""A snapshot, and the port of what keeps them."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from eventstore.streams import MAX_STREAM_LENGTH

MAX_STATE_BYTES: Final = 8_388_608
"""Most bytes of one state. The table has the same bound."""

_LONGEST_KIND: Final = 100


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after the event at `position`, whose hash is `hash`.

    `kind` says whose state it is (several may be folded from one stream), `version` which form and meaning
    its bytes have: a program looks for its own version only. Like events, a state must not hold what is
    secret. Raises ValueError for anything out of bounds.
    """

    stream: str
    kind: str
    version: int
    position: int
    hash: bytes
    state: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_place(self.stream, self.kind, self.version)
        if self.position < 1 or len(self.hash) != 32:
            raise ValueError("a snapshot stands at an event: a position from 1, and a hash of 32 bytes")
        if len(self.state) > MAX_STATE_BYTES:
            raise ValueError(f"a state has at most {MAX_STATE_BYTES} bytes, not {len(self.state)}")


class Snapshots(Protocol):
    """Where snapshots are kept: one a stream, kind and version."""

    async def save(self, snapshot: Snapshot) -> None:
        """Keep this one instead of the one before it. An older one than is kept is passed over."""
        ...

    async def load(self, stream: str, kind: str, version: int) -> Snapshot | None:
        """The one that is kept."""
        ...

    async def discard(self, snapshot: Snapshot) -> None:
        """Forget exactly this one: it does not fit the log."""
        ...


def check_place(stream: str, kind: str, version: int) -> None:
    """Raise ValueError unless a snapshot can be kept under these."""
    for what, text, longest in (("stream", stream, MAX_STREAM_LENGTH), ("kind", kind, _LONGEST_KIND)):
        if not 0 < len(text) <= longest or not text.isprintable():
            raise ValueError(f"a {what} is 1 to {longest} printable characters")
    if not 1 <= version < 2**31:
        raise ValueError(f"a version is a number from 1, not {version}")
