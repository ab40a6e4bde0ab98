"""Encrypted connections: certificates from files, which may be renewed while the server runs."""

from collections.abc import Mapping
from pathlib import Path

import grpc
import structlog

from servicekit.grpc.settings import ServerSettings, TlsSettings

_log = structlog.get_logger("servicekit.grpc")

ALTERNATIVE_NAMES = "x509_subject_alternative_name"


class CertificateFiles:
    """The files of one end; says when they have changed."""

    def __init__(self, tls: TlsSettings) -> None:
        self._tls = tls
        self._seen: tuple[tuple[int, int], ...] | None = None

    def read(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Authorities, certificate and key as they are now. Raises OSError."""
        self._seen = self._state()
        return (
            _bytes(self._tls.authorities_file),
            _bytes(self._tls.certificate_file),
            _bytes(self._tls.key_file),
        )

    def changed(self) -> bool:
        """Whether a file is another one than was read. Raises OSError."""
        return self._state() != self._seen

    def _state(self) -> tuple[tuple[int, int], ...]:
        files = (self._tls.authorities_file, self._tls.certificate_file, self._tls.key_file)
        states = (path.stat() for path in files if path is not None)
        return tuple((state.st_mtime_ns, state.st_ino) for state in states)


def server_credentials(tls: TlsSettings, settings: ServerSettings) -> grpc.ServerCredentials:
    """What a server shows and asks for; each new connection sees the files as they are then.

    Raises OSError where a file is missing, ValueError where they do not fit together.
    """
    files = CertificateFiles(tls)
    first = _configuration(files)

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        try:
            return _configuration(files) if files.changed() else None
        except (OSError, ValueError) as problem:
            # Halfway through being replaced, most likely: what was read before still serves.
            _log.warning("certificates not renewed", problem=str(problem))
            return None

    return grpc.dynamic_ssl_server_credentials(
        first,
        renewed,  # type: ignore[arg-type]  # the stubs forget that None means: as before
        require_client_authentication=settings.callers_must_show_certificates,
    )


def channel_credentials(tls: TlsSettings) -> grpc.ChannelCredentials:
    """What a client believes and shows. Raises OSError where a file is missing."""
    authorities, certificate, key = CertificateFiles(tls).read()
    return grpc.ssl_channel_credentials(
        root_certificates=authorities, private_key=key, certificate_chain=certificate
    )


def caller_of(auth_context: Mapping[str, object], prefix: str) -> str | None:
    """The calling service's name from its certificate: what follows the prefix in its one such URI.

    None where no certificate was shown, or it names no service, or more than one.
    """
    names = auth_context.get(ALTERNATIVE_NAMES)
    found = [
        text.removeprefix(prefix)
        for name in (names if isinstance(names, list | tuple) else ())
        if (text := _text(name)).startswith(prefix)
    ]
    return found[0] if len(found) == 1 and _is_name(found[0]) else None


def _configuration(files: CertificateFiles) -> grpc.ServerCertificateConfiguration:
    authorities, certificate, key = files.read()
    if certificate is None or key is None:
        raise ValueError("a server needs a certificate and its key")
    return grpc.ssl_server_certificate_configuration([(key, certificate)], root_certificates=authorities)


def _bytes(path: Path | None) -> bytes | None:
    return None if path is None else path.read_bytes()


def _text(name: object) -> str:
    return name.decode("utf-8", errors="replace") if isinstance(name, bytes) else str(name)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 63 and text.replace("-", "").replace("_", "").isalnum() and text.isascii()
