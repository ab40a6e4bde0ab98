"""The gateway as a program: it starts without its neighbours, serves who signs, hides secrets, stops."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from servicekit.grpc import Actor, ActorKind, acting_as, open_channel
from servicekit.settings import WrongSettings, load_settings
from stack import Stack
from tests.gateway.conftest import database_template, service_database, service_role
from tests.gateway.world import Signing
from tests.wallet.edges.processes import KEY, SIGNER, WalletProcess, environment, in_thread
from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_gateway.entrypoints.grpc import GATEWAY
from upcard_gateway.settings import GatewaySettings
from upcard_platform.signing import HmacSigner

__all__ = ["database_template", "service_database", "service_role"]

TIMEOUT_S = 60.0
NOBODY = "127.0.0.1:1"
ADMIN = Actor(ActorKind.STAFF, "s1", frozenset({"admin"}))
TERMS = pb.Terms(name="Casino", currencies=[pb.CurrencyLimits(currency="EUR")])


def settings_of(stack: Stack, dsn: str, **more: str) -> dict[str, str]:
    """Settings of a gateway whose neighbours are away."""
    base = environment(stack, dsn, namespace="gateway-alone")
    del base["UPCARD_UPKEEP_INTERVAL_S"]
    pem = KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    key = base64.b64encode(b"k" * 32).decode()
    return {
        **base,
        **{f"UPCARD_{name}_ADDRESS": NOBODY for name in ("TABLE", "WALLET", "BONUS", "HISTORY")},
        "UPCARD_SIGNING_KEY_ID": "gateway-1",
        "UPCARD_SIGNING_KEY": pem,
        "UPCARD_SECRET_KEYS": json.dumps({"secrets-1": key}),
        "UPCARD_SECRET_KEY": "secrets-1",
        "UPCARD_LINK_KEYS": json.dumps({"links-1": key}),
        "UPCARD_LINK_KEY": "links-1",
        **more,
    }


@contextmanager
def running(settings: Mapping[str, str]) -> Iterator[WalletProcess]:
    """A gateway, ready; killed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        process = WalletProcess(settings, Path(folder), program="upcard_gateway")
        try:
            process.until_ready()
            yield process
        finally:
            process.process.kill()
            process.process.wait(TIMEOUT_S)


async def registered(process: WalletProcess) -> HmacSigner:
    """Register an operator with a key, over gRPC."""
    channel = open_channel(process.address, audience="gateway", services=[GATEWAY], signer=SIGNER)
    async with channel:
        stub = GatewayServiceStub(channel)
        with acting_as(ADMIN):
            await stub.RegisterOperator(
                pb.RegisterOperatorRequest(
                    request_id="r1",
                    operator="op1",
                    environment=pb.ENVIRONMENT_LIVE,
                    wallet=pb.WALLET_KIND_TRANSFER,
                    terms=TERMS,
                ),
                timeout=TIMEOUT_S,
            )
            request = pb.AddKeyRequest(request_id="r2", operator="op1", algorithm=pb.ALGORITHM_HMAC_SHA256)
            answer = await stub.AddKey(request, timeout=TIMEOUT_S)
    assert answer.HasField("added"), answer
    return HmacSigner(answer.added.key.key_id, answer.added.secret)


async def test_it_serves_who_signs_though_nobody_else_is_there(stack: Stack, service_database: str) -> None:
    manager = running(settings_of(stack, service_database))
    process = await in_thread(manager.__enter__)
    try:
        signer = await registered(process)
        address = process.lines("listening for HTTP")[0]
        url = f"http://{address['host']}:{address['port']}"
        auth = Signing(signer, lambda: dt.datetime.now(dt.UTC))
        async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S) as client:
            found = await client.get("/v1/operator", auth=auth)
            assert found.status_code == 200, found.text
            assert found.json()["signed_with"] == signer.key_id
            refused = await client.get("/v1/operator")
            assert refused.status_code == 401
            assert refused.headers["content-type"] == "application/problem+json"
            assert "server" not in refused.headers
            long = await client.get("/v1/operator", headers={"x-long": "a" * 40_000})
            assert long.status_code in {400, 431}
        assert process.metric("upcard_gateway_calls_refused_total") >= 1
        assert await asyncio.to_thread(process.stop) == 0, process.said
        said = process.said
        async with asyncio.timeout(TIMEOUT_S):
            connection = await asyncpg.connect(service_database)
            try:
                stored = await connection.fetch("SELECT answer FROM eventstore.answers")
            finally:
                await connection.close()
        raw = signer._secret
        for shape in (raw.hex(), base64.b64encode(raw).decode(), repr(raw)):
            assert shape not in said
        assert not any(raw in bytes(row["answer"]) for row in stored)
    finally:
        await in_thread(lambda: manager.__exit__(None, None, None))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"UPCARD_TABLE_ADDRESS": "nowhere"}, "UPCARD_TABLE_ADDRESS"),
        ({"UPCARD_PUBLIC_URL": "ftp://casino.example"}, "UPCARD_PUBLIC_URL"),
        ({"UPCARD_SECRET_KEY": "another"}, "UPCARD_SECRET_KEY"),
        ({"UPCARD_SECRET_KEYS": '{"secrets-1": "c2hvcnQ="}'}, "UPCARD_SECRET_KEYS"),
        ({"UPCARD_TRUSTED_PROXIES": "everywhere"}, "UPCARD_TRUSTED_PROXIES"),
        ({"UPCARD_SIGNATURE_WINDOW_S": "0"}, "UPCARD_SIGNATURE_WINDOW_S"),
    ],
)
def test_wrong_settings_are_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], named: str
) -> None:
    for name, value in settings_of(stack, "postgresql://nobody@127.0.0.1:1/none", **wrong).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as found:
        load_settings(GatewaySettings)
    assert named in str(found.value)


def commanded(process: WalletProcess, *arguments: str, status: int = 0) -> list[dict[str, Any]]:
    """Run `upcard operator` with `--json`; the lines that it wrote."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from upcard_operate.groups.operators import app; app()",
            *arguments,
            "--json",
        ],
        env={**process.settings, "UPCARD_GATEWAY_ADDRESS": process.address, "UPCARD_STAFF": "s9"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_the_command_line_registers_and_changes_operators(
    stack: Stack, service_database: str, tmp_path: Path
) -> None:
    manager = running(settings_of(stack, service_database))
    process = await in_thread(manager.__enter__)
    terms = ("--name", "Casino", "--currency", "EUR:100-50000", "--currency", "GBP")
    kind = ("--environment", "sandbox", "--wallet", "seamless")
    public = rsa.generate_private_key(65_537, 2_048).public_key()
    pem = tmp_path / "public.pem"
    pem.write_bytes(
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )

    def work() -> None:
        assert commanded(process, "list") == []
        (made,) = commanded(process, "register", "op1", *terms, *kind)
        assert (made["environment"], made["wallet"]) == ("sandbox", "seamless")
        assert json.loads(made["currencies"]) == {"EUR": [100, 50_000], "GBP": [None, None]}
        commanded(process, "register", "op1", *terms, *kind, status=1)
        commanded(process, "register", "op2", "--name", "A", "--currency", "euro", *kind, status=2)
        (key,) = commanded(process, "key", "add", "op1", "--request-id", "r-1")
        assert len(base64.b64decode(key["secret_base64"])) == 32
        assert commanded(process, "key", "add", "op1", "--request-id", "r-1") == [key]
        (other,) = commanded(process, "key", "add", "op1", "--public-key", str(pem))
        assert other["algorithm"] == "rsa-sha256"
        assert "secret_base64" not in other
        (changed,) = commanded(process, "change", "op1", "--closed", "--rate-per-s", "7")
        assert (changed["closed"], changed["rate_per_s"], changed["name"]) == (True, 7, "Casino")
        assert json.loads(changed["currencies"]) == json.loads(made["currencies"])
        (revoked,) = commanded(process, "key", "revoke", "op1", key["key"])
        assert revoked["revoked_at"] is not None
        shown = commanded(process, "show", "op1")
        assert shown[0]["keys_in_force"] == 1
        assert [one["key"] for one in shown[1:]] == [key["key"], other["key"]]
        assert all("secret" not in json.dumps(one) for one in shown)
        assert [one["operator"] for one in commanded(process, "list")] == ["op1"]

    try:
        await in_thread(work)
    finally:
        await in_thread(lambda: manager.__exit__(None, None, None))
