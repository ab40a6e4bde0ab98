"""What an answer is kept under, and what can be wrong with asking again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from eventstore.errors import EventStoreError

MAX_ANSWER_BYTES: Final = 262_144
"""Most bytes of one stored answer. The table has the same bound."""

LONGEST_KEY_PART: Final = 200
"""Most characters of a caller, a method or a request's id."""

DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True, order=True)
class AnswerKey:
    """Which call it is. A request's id means nothing without its caller and method.

    Raises ValueError for a part that is empty, too long or not printable.
    """

    caller: str
    method: str
    request_id: str

    def __post_init__(self) -> None:
        for name, part in (
            ("caller", self.caller),
            ("method", self.method),
            ("request id", self.request_id),
        ):
            if not 0 < len(part) <= LONGEST_KEY_PART or not part.isprintable():
                raise ValueError(f"a {name} is 1 to {LONGEST_KEY_PART} printable characters")

    def __str__(self) -> str:
        return f"{self.request_id} of {self.method} by {self.caller}"


class RequestIdReused(EventStoreError):
    """A request's id came again with another body. Nothing was done; the caller has a defect."""

    slug: ClassVar[str] = "request_id_reused"

    def __init__(self, key: AnswerKey) -> None:
        self.key = key
        super().__init__(f"request {key} came before, with another body")


class RequestUnderWay(EventStoreError):
    """The same call is still running elsewhere, for longer than `lock_timeout`.

    Nothing was done; the transaction is lost. Ask again: the answer will be there, or the call will be begun.
    """

    slug: ClassVar[str] = "request_under_way"

    def __init__(self, key: AnswerKey) -> None:
        self.key = key
        super().__init__(f"request {key} is still running")


class AnswerExists(EventStoreError):
    """Some of the calls of a group were answered by someone else meanwhile. Roll back, and look them up."""

    slug: ClassVar[str] = "answer_exists"

    def __init__(self, keys: Sequence[AnswerKey]) -> None:
        self.keys = tuple(keys)
        super().__init__(f"{len(self.keys)} calls have their answers already, the first is {self.keys[0]}")


@dataclass(frozen=True, slots=True)
class Fresh:
    """The call is new: do it, then `finish` it in the same transaction."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that the call got before. Give it again, and do nothing."""

    answer: bytes = field(repr=False)
    body_digest: bytes = field(repr=False)

    def checked(self, key: AnswerKey, body_digest: bytes) -> bytes:
        """The answer, if it was to the same body. Raises RequestIdReused."""
        if self.body_digest != body_digest:
            raise RequestIdReused(key)
        return self.answer


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer to be stored."""

    key: AnswerKey
    body_digest: bytes = field(repr=False)
    answer: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_digest(self.body_digest)
        check_answer(self.answer)


def check_digest(body_digest: bytes) -> None:
    """Raise ValueError unless it is a SHA-256, plain or keyed."""
    if len(body_digest) != DIGEST_BYTES:
        raise ValueError(f"a body's digest has {DIGEST_BYTES} bytes, not {len(body_digest)}")


def check_answer(answer: bytes) -> None:
    """Raise ValueError for an answer that is too large to be kept."""
    if len(answer) > MAX_ANSWER_BYTES:
        raise ValueError(f"an answer has at most {MAX_ANSWER_BYTES} bytes, not {len(answer)}")
