"""One call in one transaction: begun first, finished last."""

from typing import Final

import asyncpg

from eventstore.answers.model import (
    Answer,
    AnswerKey,
    Fresh,
    RequestIdReused,
    RequestUnderWay,
    check_answer,
    check_digest,
)
from eventstore.errors import EventStoreError
from eventstore.postgres.connections import Connection

# The key's place in the index is the lock: a second call waits here until the first one's transaction ends.
_BEGIN: Final = """
INSERT INTO eventstore.answers (caller, method, request_id, body_digest) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
"""

# A statement of its own, hence a new snapshot: it sees what the first one committed.
_FIND: Final = """
SELECT body_digest, answer FROM eventstore.answers WHERE caller = $1 AND method = $2 AND request_id = $3
"""

_FINISH: Final = """
UPDATE eventstore.answers SET answer = $4
 WHERE caller = $1 AND method = $2 AND request_id = $3 AND answer IS NULL
"""

_TRIES: Final = 3


class CallNotBegun(EventStoreError):
    """A call is finished that this transaction has not begun: a defect of the program."""

    slug = "call_not_begun"


async def begin(connection: Connection, key: AnswerKey, body_digest: bytes) -> Fresh | Answer:
    """Begin a mutating call in the caller's transaction, before anything else of it.

    Fresh: do what is asked, then `finish`; when the transaction is rolled back, nothing is kept and the call
    may come again. Answer: it was answered before. While the same call runs elsewhere this waits for it, up
    to the session's `lock_timeout`. Raises RequestIdReused, RequestUnderWay, or what asyncpg raises.
    """
    check_digest(body_digest)
    if not connection.is_in_transaction():
        raise RuntimeError("a call is begun in the transaction that holds its effect")
    for _ in range(_TRIES):
        try:
            status = await connection.execute(_BEGIN, key.caller, key.method, key.request_id, body_digest)
        except asyncpg.LockNotAvailableError as error:
            raise RequestUnderWay(key) from error
        if status == "INSERT 0 1":
            return Fresh()
        row = await connection.fetchrow(_FIND, key.caller, key.method, key.request_id)
        if row is not None:
            return _found(key, body_digest, row)
        # It was pruned in between.
    raise RequestUnderWay(key)


async def finish(connection: Connection, key: AnswerKey, answer: bytes) -> None:
    """Give a begun call its answer, in the same transaction; it is kept when that commits.

    A transaction in which a begun call has no answer cannot commit. Raises CallNotBegun, ValueError (too
    large).
    """
    check_answer(answer)
    status = await connection.execute(_FINISH, key.caller, key.method, key.request_id, answer)
    if status != "UPDATE 1":
        raise CallNotBegun(f"request {key} was not begun in this transaction, or is finished")


def _found(key: AnswerKey, body_digest: bytes, row: asyncpg.Record) -> Answer:
    if row["body_digest"] != body_digest:
        raise RequestIdReused(key)
    if row["answer"] is None:
        raise RuntimeError(f"request {key} was begun twice in one transaction")
    return Answer(row["answer"], row["body_digest"])
