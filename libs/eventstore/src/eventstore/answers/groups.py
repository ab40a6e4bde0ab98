"""Answers of many calls at once: for who decides in memory, and stores a group of calls with its events."""

from collections.abc import Iterable, Sequence
from typing import Final

from eventstore.answers.model import Answer, AnswerExists, AnswerKey, NewAnswer
from eventstore.postgres.connections import Connection

MAX_GROUP: Final = 10_000
"""Most answers stored or looked for at once."""

# In the order of their keys, so that two who store the same ones wait for each other and never in a circle.
_STORE: Final = """
INSERT INTO eventstore.answers (caller, method, request_id, body_digest, answer)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[]) AS u (a, b, c, d, e)
 ORDER BY a COLLATE "C", b COLLATE "C", c COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING caller, method, request_id
"""

_FIND: Final = """
SELECT a.caller, a.method, a.request_id, a.body_digest, a.answer
  FROM unnest($1::text[], $2::text[], $3::text[]) AS u (caller, method, request_id)
  JOIN eventstore.answers AS a USING (caller, method, request_id)
 WHERE a.answer IS NOT NULL
"""


async def store_answers(connection: Connection, answers: Sequence[NewAnswer]) -> None:
    """Store the answers of a group, in the transaction that stores its effect: all of them or none.

    Raises AnswerExists when someone else has answered any of these calls: the caller's effect must not be
    kept then, so let the error end the transaction. Also raises ValueError (a key twice, too many).
    """
    if not answers:
        return
    if len(answers) > MAX_GROUP:
        raise ValueError(f"at most {MAX_GROUP} answers at once, not {len(answers)}")
    keys = {one.key for one in answers}
    if len(keys) < len(answers):
        raise ValueError("a call has one answer")
    rows = await connection.fetch(
        _STORE,
        [one.key.caller for one in answers],
        [one.key.method for one in answers],
        [one.key.request_id for one in answers],
        [one.body_digest for one in answers],
        [one.answer for one in answers],
    )
    if len(rows) < len(keys):
        raise AnswerExists(sorted(keys - {AnswerKey(*row) for row in rows}))


async def find_answers(connection: Connection, keys: Iterable[AnswerKey]) -> dict[AnswerKey, Answer]:
    """The stored ones among these calls' answers. What runs at this moment is not waited for.

    `Answer.checked` compares the body. Raises ValueError (too many).
    """
    asked = list(keys)
    if len(asked) > MAX_GROUP:
        raise ValueError(f"at most {MAX_GROUP} answers at once, not {len(asked)}")
    if not asked:
        return {}
    rows = await connection.fetch(
        _FIND, [one.caller for one in asked], [one.method for one in asked], [one.request_id for one in asked]
    )
    return {AnswerKey(*row[:3]): Answer(row["answer"], row["body_digest"]) for row in rows}
