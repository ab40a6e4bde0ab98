"""Keys that platforms sign with: what is none is said so, nothing of a secret shows."""

from __future__ import annotations

import datetime as dt

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from upcard_platform.signing import (
    HmacSigner,
    RsaSigner,
    decoded_signature,
    fingerprint_of,
    hmac_fits,
    instant_of,
    public_key_of,
    rsa_fits,
    stamp,
)

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def private_pem(key: Private) -> bytes:
    """A private key in PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def public_pem(key: Private) -> str:
    """Its public half in PEM."""
    public = key.public_key()
    return public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def test_a_key_of_another_kind_or_size_is_none() -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    small = rsa.generate_private_key(65_537, 1_024)  # noqa: S505 - that is what is wrong
    for key in (curve, small):
        with pytest.raises(ValueError, match="RSA"):
            RsaSigner("k-1", private_pem(key))
        with pytest.raises(ValueError, match=r"RSA key|bits"):
            public_key_of(public_pem(key))
    with pytest.raises(ValueError, match="PEM"):
        RsaSigner("k-1", b"nothing")
    with pytest.raises(ValueError, match="PEM"):
        public_key_of(private_pem(small).decode())
    with pytest.raises(ValueError, match="32 bytes"):
        HmacSigner("k-1", b"short")


def test_what_is_signed_fits_its_own_key_and_no_other() -> None:
    one, other = (rsa.generate_private_key(65_537, 2_048) for _ in range(2))
    signature = RsaSigner("k-1", private_pem(one)).sign(b"text")
    assert rsa_fits(one.public_key(), b"text", signature)
    assert not rsa_fits(other.public_key(), b"text", signature)
    assert not rsa_fits(one.public_key(), b"texT", signature)
    assert not rsa_fits(one.public_key(), b"text", b"")
    secret = HmacSigner("k-2", b"s" * 32)
    assert hmac_fits(b"s" * 32, b"text", secret.sign(b"text"))
    assert not hmac_fits(b"t" * 32, b"text", secret.sign(b"text"))
    assert not hmac_fits(b"s" * 32, b"text", b"")
    # A public key is no secret, so it must never serve as one.
    assert not hmac_fits(public_pem(one).encode(), b"text", signature)


def test_nothing_of_a_key_shows() -> None:
    key = rsa.generate_private_key(65_537, 2_048)
    assert repr(HmacSigner("k-1", b"s" * 32)) == "HmacSigner('k-1')"
    assert repr(RsaSigner("k-1", private_pem(key))) == "RsaSigner('k-1')"
    assert fingerprint_of(b"s" * 32) != fingerprint_of(b"t" * 32)
    assert b"s".hex() * 4 not in fingerprint_of(b"s" * 32)
    assert len(fingerprint_of(key.public_key())) == 64


@given(st.datetimes(min_value=dt.datetime(1970, 1, 1), max_value=dt.datetime(9999, 12, 31)))  # noqa: DTZ001 - given UTC below
def test_an_instant_is_written_in_one_form(moment: dt.datetime) -> None:
    at = moment.replace(tzinfo=dt.UTC)
    assert instant_of(stamp(at)) == at
    assert stamp(instant_of(stamp(at))) == stamp(at)


def test_an_instant_without_a_zone_is_none() -> None:
    with pytest.raises(ValueError, match="zone"):
        stamp(dt.datetime(2026, 1, 31))  # noqa: DTZ001 - that is what is wrong


@given(st.text(max_size=40))
def test_a_signature_that_can_be_read_is_written_in_one_form(text: str) -> None:
    try:
        found = decoded_signature(text)
    except ValueError:
        return
    assert found
    assert text.isascii()
