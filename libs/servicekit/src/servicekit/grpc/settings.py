"""What a server and a client can be told, with units in the names and a bound for everything."""

import ipaddress
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
# gRPC never comes back from a pause that it rounds to no milliseconds at all.
Pause = Annotated[float, Field(ge=0.01, le=600, allow_inf_nan=False)]
MessageBytes = Annotated[int, Field(ge=1_024, le=64 * 1_048_576)]
Port = Annotated[int, Field(ge=0, le=65_535)]

DEFAULT_MESSAGE_BYTES = 4 * 1_048_576
"""Largest message where nothing else is said: a page of the event feed fits, with room."""
CALLER_PREFIX = "spiffe://upcard/service/"


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TlsSettings(_Settings):
    """Files of one end of an encrypted connection, in PEM."""

    authorities_file: Path | None = Field(default=None, description="a file of certificates, in PEM")
    """Whose certificates are believed. A client without it believes the machine's; a server without it asks
    its callers for none."""
    certificate_file: Path | None = Field(default=None, description="a file with a certificate, in PEM")
    """Our own certificate, with what it was signed by. A server always has one; a client, where the server
    asks for one."""
    key_file: Path | None = Field(default=None, description="a file with a private key, in PEM")
    """The private key that belongs to it."""

    @model_validator(mode="after")
    def _key_and_certificate(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file belong together: give both or neither")
        return self


class ServerSettings(_Settings):
    """How a server listens and what it takes."""

    host: str = Field(default="127.0.0.1", description="a numeric address to listen on, or localhost")
    port: Port = Field(default=0, description="the port to listen on, or 0 for a free one")
    tls: TlsSettings | None = None
    """None: no encryption, which is for this machine alone (see `plaintext_beyond_this_machine`)."""
    callers_must_show_certificates: bool = True
    """With TLS: refuse connections without a certificate signed by one of `tls.authorities_file`."""
    caller_prefix: str = CALLER_PREFIX
    """What a caller's URI begins with in its certificate; the rest is its name."""
    plaintext_beyond_this_machine: bool = False
    """Whether to listen without encryption where others can reach it: behind a mesh that encrypts."""

    max_request_bytes: MessageBytes = DEFAULT_MESSAGE_BYTES
    max_response_bytes: MessageBytes = DEFAULT_MESSAGE_BYTES
    max_calls: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Calls with one answer that are served at a time; more are refused, to be tried again."""
    max_streams: Annotated[int, Field(ge=1, le=100_000)] = 1_024
    """Calls with a stream of answers or requests that are served at a time."""
    max_call_s: Seconds = 30.0
    """Longest that a call with one answer may take, whatever its own deadline says."""
    max_stream_s: Seconds = 3_600.0
    """Longest that a stream may last; its reader comes again from where it was."""

    drain_s: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 0.0
    """At a stop: how long to go on serving, as not healthy, so that balancers look elsewhere."""
    grace_s: Seconds = 10.0
    """At a stop: how long calls may take to end by themselves."""

    keepalive_time_s: Seconds = 30.0
    """Ping a silent connection after this."""
    keepalive_timeout_s: Seconds = 10.0
    """Give a connection up when a ping is not answered within this."""
    min_ping_interval_s: Seconds = 5.0
    """Clients that ping more often are disconnected."""
    max_connection_age_s: Seconds | None = 1_800.0
    """Let clients connect anew after this, so that new instances get their share. None: never."""
    reflection: bool = True
    """Whether a tool may ask which services and messages there are."""

    @model_validator(mode="after")
    def _tls(self) -> Self:
        if self.tls is None:
            if not (_is_this_machine(self.host) or self.plaintext_beyond_this_machine):
                raise ValueError(
                    f"host {self.host} can be reached from other machines: give tls, or set "
                    "plaintext_beyond_this_machine if something in front of it encrypts"
                )
            return self
        if self.tls.certificate_file is None:
            raise ValueError("tls needs certificate_file and key_file: a server shows a certificate")
        if self.callers_must_show_certificates and self.tls.authorities_file is None:
            raise ValueError("callers_must_show_certificates needs tls.authorities_file to check them by")
        return self


class ClientSettings(_Settings):
    """How a client calls and how long it tries."""

    tls: TlsSettings | None = None
    """None: no encryption."""
    default_timeout_s: Seconds = 5.0
    """Deadline of a call with one answer, where the call names none."""
    default_stream_s: Seconds = 3_600.0
    """The same for a stream."""
    max_request_bytes: MessageBytes = DEFAULT_MESSAGE_BYTES
    max_response_bytes: MessageBytes = DEFAULT_MESSAGE_BYTES

    attempts: Annotated[int, Field(ge=1, le=5)] = 4
    """Tries of a call that may be repeated, the first one included; all within its one deadline."""
    first_backoff_s: Pause = 0.05
    """Pause before the second try, give or take a fifth of it by chance."""
    max_backoff_s: Pause = 1.0
    """Longest pause between two tries."""
    backoff_factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    retry_tokens: Annotated[int, Field(ge=1, le=1_000)] = 20
    """Budget of repetitions for one server: a failure takes one token, and with half of them gone nothing is
    repeated."""
    retry_tokens_earned: Annotated[float, Field(gt=0, le=1)] = 0.1
    """What a success gives back."""

    keepalive_time_s: Seconds = 20.0
    """Ping a silent connection after this; not more often than the server allows."""
    keepalive_timeout_s: Seconds = 5.0
    """Give a connection up when a ping is not answered within this."""
    first_reconnect_s: Seconds = 0.1
    """Pause before connecting again; doubles up to `max_reconnect_s`."""
    max_reconnect_s: Seconds = 2.0
    connect_timeout_s: Seconds = 5.0
    """How long one attempt to connect may take."""


def _is_this_machine(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
