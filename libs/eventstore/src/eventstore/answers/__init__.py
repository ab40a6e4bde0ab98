"""Stored answers: the same mutating call again gets the answer that it got, and nothing is done twice.

Kept by caller, method and `request_id`, in the transaction of the call's effect, for 7 days or longer.
"""

from eventstore.answers.calls import begin, finish
from eventstore.answers.digests import digest, keyed_digest
from eventstore.answers.groups import find_answers, store_answers
from eventstore.answers.model import (
    LONGEST_KEY_PART,
    MAX_ANSWER_BYTES,
    Answer,
    AnswerExists,
    AnswerKey,
    Fresh,
    NewAnswer,
    RequestIdReused,
    RequestUnderWay,
)
from eventstore.answers.pruning import SHORTEST_KEEPING, prune_answers

__all__ = [
    "LONGEST_KEY_PART",
    "MAX_ANSWER_BYTES",
    "SHORTEST_KEEPING",
    "Answer",
    "AnswerExists",
    "AnswerKey",
    "Fresh",
    "NewAnswer",
    "RequestIdReused",
    "RequestUnderWay",
    "begin",
    "digest",
    "find_answers",
    "finish",
    "keyed_digest",
    "prune_answers",
    "store_answers",
]
