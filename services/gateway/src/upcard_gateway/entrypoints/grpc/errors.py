"""What exceptions of the layers below mean to who called."""

from __future__ import annotations

from typing import Final

from servicekit.answering import ANSWER_ERRORS
from servicekit.grpc import ErrorMap

GATEWAY_ERRORS: Final[ErrorMap] = ANSWER_ERRORS
"""All others are unexpected: a mistake of the service itself."""
