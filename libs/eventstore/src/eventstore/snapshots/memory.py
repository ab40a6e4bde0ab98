"""The twin of the table, for tests of what stands upon it."""

from eventstore.snapshots.model import Snapshot


class MemorySnapshots:
    """`Snapshots` in memory."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, int], Snapshot] = {}

    async def save(self, snapshot: Snapshot) -> None:
        """See `Snapshots`."""
        key = (snapshot.stream, snapshot.kind, snapshot.version)
        kept = self._kept.get(key)
        if kept is None or kept.position <= snapshot.position:
            self._kept[key] = snapshot

    async def load(self, stream: str, kind: str, version: int) -> Snapshot | None:
        """See `Snapshots`."""
        return self._kept.get((stream, kind, version))

    async def discard(self, snapshot: Snapshot) -> None:
        """See `Snapshots`."""
        key = (snapshot.stream, snapshot.kind, snapshot.version)
        kept = self._kept.get(key)
        if kept is not None and (kept.position, kept.hash) == (snapshot.position, snapshot.hash):
            del self._kept[key]
