"""gRPC as every service speaks it: deadlines always, errors with reasons, who acts always signed.

Nothing is open that was not opened. `GrpcServer` serves, `open_channel` calls; docs/grpc.md tells how they
are meant.
"""

from servicekit.grpc.actors import Actor, ActorKind, InvalidActor
from servicekit.grpc.calls import Call, call_context, current_call
from servicekit.grpc.client import ClientChannel, NotServing, open_channel
from servicekit.grpc.errors import CallError, ErrorMap
from servicekit.grpc.exposure import ANY_SERVICE, Access, Exposed, by, for_services
from servicekit.grpc.failures import Failure, failure_of
from servicekit.grpc.log_errors import LOG_ERRORS
from servicekit.grpc.sections import GrpcSettings, SigningSettings
from servicekit.grpc.server import GrpcServer, ServerDidNotStart
from servicekit.grpc.settings import ClientSettings, ServerSettings, TlsSettings
from servicekit.grpc.signing import ContextSigner, acting_as, load_signer, passing_on
from servicekit.grpc.stage import start_grpc
from servicekit.grpc.verifying import CallContext, ContextVerifier, TrustedKey, trusted_key

__all__ = [
    "ANY_SERVICE",
    "LOG_ERRORS",
    "Access",
    "Actor",
    "ActorKind",
    "Call",
    "CallContext",
    "CallError",
    "ClientChannel",
    "ClientSettings",
    "ContextSigner",
    "ContextVerifier",
    "ErrorMap",
    "Exposed",
    "Failure",
    "GrpcServer",
    "GrpcSettings",
    "InvalidActor",
    "NotServing",
    "ServerDidNotStart",
    "ServerSettings",
    "SigningSettings",
    "TlsSettings",
    "TrustedKey",
    "acting_as",
    "by",
    "call_context",
    "current_call",
    "failure_of",
    "for_services",
    "load_signer",
    "open_channel",
    "passing_on",
    "start_grpc",
    "trusted_key",
]
