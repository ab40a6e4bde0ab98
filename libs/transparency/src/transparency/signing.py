"""Signing checkpoints that are committed, and keeping them outside the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eventstore.postgres import Connection
from transparency.checkpoints import Checkpoint
from transparency.notes import Note, Signature, SignerKey
from transparency.sinks import Sink

MOST_AT_ONCE: Final = 500
"""Most checkpoints that are signed, or kept, by one call."""

# They are committed, and signed, in their order: none before the latest signed one is left. A key that is new
# signs from its first checkpoint on, and what another one has signed already stays as it is.
_UNSIGNED: Final = """
SELECT c.size, c.root FROM transparency.checkpoints AS c
 WHERE c.size > coalesce((SELECT max(s.size) FROM transparency.signatures AS s WHERE s.name = $1), 0)
 ORDER BY c.size LIMIT $2
"""

_SIGN: Final = """
INSERT INTO transparency.signatures (size, name, key_id, value)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[]) ON CONFLICT DO NOTHING
"""

_SIGNATURES: Final = """
SELECT c.size, c.root, s.name, s.key_id, s.value
  FROM transparency.checkpoints AS c JOIN transparency.signatures AS s USING (size)
 WHERE c.size = ANY ($1::bigint[]) ORDER BY c.size, s.signed_at, s.name
"""

# The latest: each holds all that earlier ones hold, so that one that was passed over is no loss.
_NOT_KEPT: Final = """
SELECT max(s.size) FROM transparency.signatures AS s
 WHERE s.size > coalesce((SELECT max(k.size) FROM transparency.kept AS k WHERE k.sink = $1), 0)
"""

_LATEST: Final = "SELECT max(size) FROM transparency.signatures WHERE name = $1"
_KEPT: Final = "INSERT INTO transparency.kept (size, sink) VALUES ($1, $2) ON CONFLICT DO NOTHING"


async def sign_committed(connection: Connection, origin: str, keys: Sequence[SignerKey]) -> int:
    """Sign checkpoints that have no signature of this log yet, oldest first: how many there were.

    Several that do it at once sign the same texts. Each key has the log's origin for a name.
    """
    rows = await connection.fetch(_UNSIGNED, origin, MOST_AT_ONCE)
    signed = [
        (row["size"], key.sign(Checkpoint(origin, row["size"], row["root"]).text))
        for row in rows
        for key in keys
    ]
    await add_signatures(connection, signed)
    return len(rows)


async def add_signatures(connection: Connection, signed: Sequence[tuple[int, Signature]]) -> None:
    """Put signatures below checkpoints, by size; one that is there already stays."""
    await connection.execute(
        _SIGN,
        [size for size, _ in signed],
        [one.name for _, one in signed],
        [one.key_id for _, one in signed],
        [one.value for _, one in signed],
    )


async def notes_of(connection: Connection, origin: str, sizes: Sequence[int]) -> dict[int, Note]:
    """Checkpoints with all their signatures, by size; one that nobody signed is left out."""
    found: dict[int, Note] = {}
    for row in await connection.fetch(_SIGNATURES, list(sizes)):
        empty = Note(Checkpoint(origin, row["size"], row["root"]).text, ())
        one = Signature(row["name"], row["key_id"], row["value"])
        found[row["size"]] = found.get(row["size"], empty).with_signatures([one])
    return found


async def latest_note(connection: Connection, origin: str) -> tuple[int, Note] | None:
    """The largest checkpoint that the log has signed, by size; None: there is none yet."""
    size = await connection.fetchval(_LATEST, origin)
    return None if size is None else (size, (await notes_of(connection, origin, [size]))[size])


async def keep_outside(connection: Connection, origin: str, sink: Sink) -> int | None:
    """Have a sink keep the latest checkpoint that it lacks: of which size; None: it lacks none.

    No transaction is open meanwhile. Dying before it is noted repeats it, which a sink takes. Raises what the
    sink raises, SinkDisagrees among it: there lies another checkpoint of that size.
    """
    size = await connection.fetchval(_NOT_KEPT, sink.name)
    if size is None:
        return None
    note = (await notes_of(connection, origin, [size]))[size]
    await sink.keep(origin, size, note)
    await connection.execute(_KEPT, size, sink.name)
    return int(size)
