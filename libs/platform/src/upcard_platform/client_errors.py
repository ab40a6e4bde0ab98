"""What can become of a call that did not succeed, and what is known about the money then."""

from __future__ import annotations

from upcard_platform.problems import ProblemBody


class PlatformError(Exception):
    """A call to Upcard that brought no answer to build on; one of the classes below."""


class Refused(PlatformError):
    """Upcard answered with a problem: `problem` has its code, what happened to the money, whether to retry.

    A refusal that may pass was repeated already, as long as the client's patience lasted.
    """

    def __init__(self, problem: ProblemBody) -> None:
        super().__init__(f"{problem.status} {problem.code}: {problem.detail}")
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable slug to branch on, such as `wallet_is_seamless`."""
        return self.problem.code


class NoAnswer(PlatformError):
    """No attempt brought an answer: whether it was done is not known.

    Make the same request again, with the same `request_id`, whenever you like: what was done already is
    answered as it was the first time, and nothing is done twice.
    """

    def __init__(self, what: str, attempts: int, last: str) -> None:
        super().__init__(
            f"{what}: no answer after {attempts} attempts, the last one ended with {last}; "
            "whether it was done is not known: repeat it with the same request_id"
        )
        self.attempts = attempts


class UnreadableAnswer(PlatformError):
    """The answer is not what this client's models say: versions that do not fit, or something between."""

    def __init__(self, what: str, status: int, why: str) -> None:
        super().__init__(f"{what}: the answer with status {status} cannot be read: {why}")
        self.status = status
