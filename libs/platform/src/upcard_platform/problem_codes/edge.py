"""Problems that any call can meet: at the edge, before it is known what was asked for, or behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard_platform.problem_kinds import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = {
    "unauthenticated": ProblemKind(
        401,
        "The call is not signed",
        "none_moved",
        "after_change",
        "Send Upcard-Key, Upcard-Timestamp and Upcard-Signature, each once, in the form that is documented.",
    ),
    "key_unknown": ProblemKind(
        401,
        "No such key",
        "none_moved",
        "after_change",
        "The key does not exist, or was revoked: sign with a key that is in force.",
    ),
    "timestamp_refused": ProblemKind(
        401,
        "The timestamp is outside of the window",
        "none_moved",
        "after_change",
        "Set the clock by NTP, and sign each call, also a repeated one, at the moment when it is sent.",
    ),
    "signature_wrong": ProblemKind(
        401,
        "The signature does not fit the call",
        "none_moved",
        "after_change",
        "Sign method, path with query, timestamp and the digest of exactly the bytes that are sent.",
    ),
    "request_replayed": ProblemKind(
        401,
        "The signed call came before",
        "none_moved",
        "after_change",
        "Sign anew, with a new timestamp and the same request_id: the answer will be the original one.",
    ),
    "address_refused": ProblemKind(
        403,
        "Calls from this address are not taken",
        "none_moved",
        "after_change",
        "Have the address that the call comes from added to the operator's list.",
    ),
    "operator_closed": ProblemKind(
        403,
        "The operator is closed",
        "none_moved",
        "after_change",
        "Ask whoever runs Upcard to open the operator again.",
    ),
    "rate_limited": ProblemKind(
        429,
        "Too many calls",
        "none_moved",
        "same_request",
        "Wait for as long as Retry-After says, then send the same call again, signed anew.",
    ),
    "overloaded": ProblemKind(
        503,
        "Too many calls are being served",
        "none_moved",
        "same_request",
        "Wait for as long as Retry-After says, then send the same call again, signed anew.",
    ),
    "body_too_large": ProblemKind(
        413, "The body is too large", "none_moved", "after_change", "Send less in one call."
    ),
    "headers_too_large": ProblemKind(
        431, "The headers are too large", "none_moved", "after_change", "Send fewer or shorter headers."
    ),
    "media_type_refused": ProblemKind(
        415,
        "The body is of another kind",
        "none_moved",
        "after_change",
        "Send JSON, with Content-Type: application/json.",
    ),
    "request_invalid": ProblemKind(
        400,
        "The request is not what the call takes",
        "none_moved",
        "after_change",
        "`errors` says for each place what is wrong there: mend it, then call with a new request_id.",
    ),
    "cursor_invalid": ProblemKind(
        400,
        "No such cursor",
        "none_moved",
        "after_change",
        "Pass on `next` of the page before exactly as it came, or begin anew without `after`.",
    ),
    "not_found": ProblemKind(
        404,
        "There is no such thing",
        "none_moved",
        "after_change",
        "Look at the id or the path: either it was never here, or it is not yours.",
    ),
    "method_not_allowed": ProblemKind(
        405,
        "The path does not take this method",
        "none_moved",
        "after_change",
        "Use a method that Allow names.",
    ),
    "request_id_reused": ProblemKind(
        409,
        "The request_id came before, with another body",
        "none_moved",
        "never",
        "A defect of the caller: a request_id belongs to one request for ever. Nothing was done now.",
    ),
    "request_under_way": ProblemKind(
        409,
        "The same request is still being served",
        "unknown",
        "same_request",
        "Send the same call again after Retry-After: it gets the answer of the first one.",
    ),
    "unavailable": ProblemKind(
        503,
        "Something behind the edge does not answer now",
        "unknown",
        "same_request",
        "Send the same call with the same request_id again: whatever it did is done once, and answered.",
    ),
    "internal": ProblemKind(
        500,
        "Something went wrong on our side",
        "unknown",
        "same_request",
        "Send the same call with the same request_id again; should it go on, tell us `instance`.",
    ),
}
