"""The audit: everything is computed again from the stored bytes, and compared with all that vouches for it.

Three questions, each in pieces of bounded size: are the events what their hashes, chains and heads say; is
the tree that of these events; is it the tree of each checkpoint, those that lie outside the database among
them. What is appended meanwhile is left for the next audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from eventstore.postgres import Pool
from eventstore.streams import SHARDS
from transparency.audited_events import ColumnsFit, audit_shard
from transparency.audited_tree import TreeAudit
from transparency.findings import Findings
from transparency.notes import VerifierKey

__all__ = ["Audit", "Findings", "audit"]

_HEADS: Final = "SELECT shard, position FROM eventstore.shard_heads ORDER BY shard"


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit goes by."""

    origin: str
    keys: tuple[VerifierKey, ...]
    """The log's own, all that ever signed."""
    outside: Iterable[bytes] = ()
    """Checkpoints that lie outside the database, as notes, smallest first."""
    columns_fit: ColumnsFit | None = None
    """Tells whether an event's columns are those of its content; None: the content is opaque."""
    progress: Callable[[int, int], None] = field(default=lambda _done, _of: None)
    """Is told of how many of all events were looked at."""


async def audit(pool: Pool, asked: Audit) -> Findings:
    """Look at everything that is there now. Raises what asyncpg raises; findings are never raised."""
    findings = Findings()
    async with pool.acquire() as connection:
        rows = await connection.fetch(_HEADS)
    heads = {row["shard"]: row["position"] for row in rows}
    for shard in range(SHARDS):
        if shard not in heads:
            findings.add("head_wrong", f"shard {shard}", "its head is gone")
    total = sum(heads.values())
    tree = TreeAudit(pool, asked.origin, asked.keys, findings)
    await tree.begin()
    for shard, head in heads.items():
        await audit_shard(pool, shard, head, tree, findings, asked.columns_fit)
        asked.progress(findings.events, total)
    await tree.end(asked.outside)
    return findings


def one_line(findings: Findings) -> str:
    """How it went, in a line."""
    looked = (
        f"{findings.events} events, {findings.leaves} leaves, {findings.checkpoints} checkpoints,"
        f" {findings.outside} outside"
    )
    if findings.clean:
        return f"Nothing was changed: {looked}."
    return f"{len(findings.found) + findings.more} findings in {looked}."


def lines(findings: Findings) -> Sequence[str]:
    """What was found, a line each."""
    more = [f"… and {findings.more} more"] if findings.more else []
    return [*(str(one) for one in findings.found), *more]
