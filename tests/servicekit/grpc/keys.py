"""Keys and certificates, made where they are needed; none of them is kept."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

from servicekit.grpc import ActorKind, ContextSigner, TlsSettings, TrustedKey

LIFETIME = dt.timedelta(hours=1)


def signer(key_id: str = "gateway-1") -> tuple[ContextSigner, TrustedKey]:
    """A new key: its signer, and what services are told of it."""
    key = Ed25519PrivateKey.generate()
    return ContextSigner(key_id, key), TrustedKey(key_id, key.public_key(), frozenset(ActorKind))


def public_base64(key: Ed25519PrivateKey) -> str:
    """The public half, as settings hold it."""
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def pem(key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as a file has it."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass
class Authority:
    """Someone who signs certificates."""

    folder: Path
    name: str = "authority"

    def __post_init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _named(self.name)
        certificate = (
            _begun(self._subject, self._subject, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = self.folder / f"{self.name}.pem"
        self.file.write_bytes(certificate.public_bytes(Encoding.PEM))

    def issue(self, name: str, *uris: str) -> TlsSettings:
        """A certificate for this machine, with these names of services; believes this authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(uri) for uri in uris]
        names += [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            _begun(_named(name), self._subject, key)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        certificate_file, key_file = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
        key_file.write_bytes(pem(key))
        return TlsSettings(authorities_file=self.file, certificate_file=certificate_file, key_file=key_file)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LIFETIME)
        .not_valid_after(now + LIFETIME)
    )
