"""Webhooks go to public addresses: as they are written, and as they are resolved."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.gateway.webhooks.receiving import Receiver
from upcard_gateway.adapters import webhook_sender
from upcard_gateway.adapters.webhook_sender import HttpSender
from upcard_gateway.domain.webhook_addresses import is_public, refused_url


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/upcard",
        "https://hooks.example.com:8443/upcard?table=1",
        "https://EXAMPLE.com",
        "https://93.184.215.14/x",
        "https://[2606:2800:21f:cb07::1]/x",
        "https://example.com./x",
    ],
)
def test_public_addresses_are_taken(url: str) -> None:
    assert refused_url(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "hooks.example.com",
        "https://",
        "https:///path",
        "https://me:secret@hooks.example.com/",
        "https://example.com@127.0.0.1/",
        "https://hooks.example.com/#part",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/\n",
        "https://hooks.example.com\\@127.0.0.1/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:99999/",
        "https://münchen.example/",
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://[::1]/",
        "https://[::]/",
        "https://[fe80::1%25eth0]/",
        "https://[fc00::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b:1::1]/",
        "https://[fec0::1]/",
        "https://[3fff::1]/",
        "https://192.88.99.1/",
        "https://[2002:7f00:1::]/",
        "https://[::7f00:1]/",
        "https://2130706433/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://example.0x7f/",
        "https://017700000001/",
        "https://localhost/",
        "https://metadata/",
        "https://vault.internal/",
        "https://printer.local/",
        "https://app.localhost/",
        "https://example..com/",
    ],
)
def test_other_addresses_are_refused_with_a_reason(url: str) -> None:
    why = refused_url(url)
    assert why
    assert why.startswith("it")


def test_for_demonstrations_there_is_an_inside() -> None:
    assert refused_url("http://127.0.0.1:8080/x", inside=True) is None
    assert refused_url("http://localhost:8080/x", inside=True) is None
    assert refused_url("ftp://127.0.0.1/x", inside=True)
    assert refused_url("http://me:secret@127.0.0.1/x", inside=True)


def test_an_address_is_judged_by_where_it_leads() -> None:
    assert is_public(ipaddress.ip_address("64:ff9b::5db8:d70e"))
    assert not is_public(ipaddress.ip_address("64:ff9b::a00:1"))
    assert not is_public(
        ipaddress.ip_address("2001:0:5ef5:79fb::80ff:fffe")
    )  # Teredo: the client is 127.0.0.1


def lying(*answers: str) -> Any:
    """A name server of somebody who wants to know what is inside."""

    def look_up(host: str, port: int, **_: Any) -> Any:
        assert host == "hooks.example.com"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answers]

    return look_up


class Blind(AbstractResolver):
    """Says that a name leads inside, and sees nothing wrong with that."""

    def __init__(self, *, inside: bool) -> None:
        assert not inside

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 - as the port has it
    ) -> list[ResolveResult]:
        """As it was told."""
        return [
            ResolveResult(hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0)
        ]

    async def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize("answers", [("127.0.0.1",), ("93.184.215.14", "127.0.0.1"), ("10.0.0.1",)])
async def test_a_name_that_leads_inside_is_not_called(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...]
) -> None:
    async with Receiver() as receiver:
        monkeypatch.setattr(socket, "getaddrinfo", lying(*answers))
        async with HttpSender() as sender:
            url = f"https://hooks.example.com:{receiver.port}/one"
            outcome = await sender.send(url, {}, b"{}", timeout_s=30)
        assert outcome.error == "not sent: the name of the host leads to an address that is not public"
        assert not receiver.complaints
        assert not receiver.seen


async def test_whatever_was_resolved_the_socket_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    real = webhook_sender._public_socket

    def watched(info: Any) -> socket.socket:
        called.append(info)
        return real(info)

    monkeypatch.setattr(webhook_sender, "_public_socket", watched)
    # As if the check of names had a hole.
    monkeypatch.setattr(webhook_sender, "_Resolver", Blind)
    async with HttpSender() as sender:
        outcome = await sender.send("https://hooks.example.com/one", {}, b"{}", timeout_s=30)
    assert called
    assert outcome.error == "not sent: the name of the host leads to an address that is not public"


async def test_an_address_inside_is_not_called() -> None:
    async with Receiver() as receiver, HttpSender() as sender:
        for url in (receiver.url("one"), f"https://127.0.0.1:{receiver.port}/one"):
            outcome = await sender.send(url, {}, b"{}", timeout_s=30)
            assert outcome.error
            assert outcome.error.startswith("not sent: it")
        assert not receiver.complaints


async def test_what_goes_wrong_is_said_without_telling_what_is_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    async with HttpSender(inside=True) as sender:
        outcome = await sender.send(f"http://127.0.0.1:{port}/", {}, b"{}", timeout_s=30)
    assert (outcome.status, outcome.error) == (None, "no connection: the host does not answer at this port")
