"""`upcard operator`: casino platforms, their terms and keys."""

from __future__ import annotations

import base64
import json
import re
import uuid
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from upcard.gateway.v1 import gateway_pb2 as pb
from upcard.gateway.v1.gateway_pb2_grpc import GatewayServiceStub
from upcard_operate.calling import CALL_S, called, granted
from upcard_operate.options import AsJson
from upcard_operate.output import Output, Row
from upcard_operate.running import run

app = typer.Typer(no_args_is_help=True, help="Casino platforms: registering, terms, keys.")
keys = typer.Typer(
    no_args_is_help=True, help="Keys that an operator signs with; several are in force at a time."
)
app.add_typer(keys, name="key")

GATEWAY: Final = pb.DESCRIPTOR.services_by_name["GatewayService"]
_PAGE: Final = 200
_CURRENCY: Final = re.compile(r"(?P<currency>[A-Z]{3})(:(?P<least>\d+)?-(?P<most>\d+)?)?")

W = TypeVar("W")

Operator = Annotated[str, typer.Argument(help="The operator's id.")]
RequestId = Annotated[
    str, typer.Option("--request-id", help="The same as before to repeat a command; else a new one.")
]
Currencies = Annotated[
    list[str],
    typer.Option("--currency", help="EUR, or EUR:100-50000 with least and most of a wager, in minor units."),
]
Addresses = Annotated[
    list[str], typer.Option("--address", help="A network that its calls may come from: 192.0.2.0/24.")
]
PerSecond = Annotated[int, typer.Option("--rate-per-s", min=1, help="Calls of each key a second, for long.")]
Burst = Annotated[int, typer.Option("--rate-burst", min=1, help="Calls of each key at once, after a pause.")]
LaunchUrl = Annotated[str, typer.Option("--launch-url", help="What a launch link begins with.")]


@app.command()
def register(
    operator: Operator,
    name: Annotated[str, typer.Option("--name", help="What people call it.")],
    currency: Currencies,
    environment: Annotated[str, typer.Option("--environment", help="sandbox or live.")],
    wallet: Annotated[str, typer.Option("--wallet", help="transfer or seamless: where the money lies.")],
    address: Addresses = [],  # noqa: B006 - typer reads it, nothing changes it
    rate_per_s: PerSecond = 50,
    rate_burst: Burst = 100,
    launch_url: LaunchUrl = "",
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Register an operator; then give it a key by `upcard operator key add`."""
    request = pb.RegisterOperatorRequest(
        request_id=request_id or _new_id(),
        operator=operator,
        environment=_word(environment, {"sandbox": pb.ENVIRONMENT_SANDBOX, "live": pb.ENVIRONMENT_LIVE}),
        wallet=_word(wallet, {"transfer": pb.WALLET_KIND_TRANSFER, "seamless": pb.WALLET_KIND_SEAMLESS}),
        terms=pb.Terms(
            name=name,
            currencies=[_currency(one) for one in currency],
            addresses=address,
            rate_per_s=rate_per_s,
            rate_burst=rate_burst,
            launch_url=launch_url,
        ),
    )

    async def work() -> None:
        async with called("gateway", GATEWAY) as channel:
            answer = granted(await GatewayServiceStub(channel).RegisterOperator(request, timeout=CALL_S))
        Output(as_json=as_json).record(_row(answer.operator))

    run(work())


@app.command()
def change(
    operator: Operator,
    name: Annotated[str | None, typer.Option("--name", help="What people call it.")] = None,
    currency: Annotated[
        list[str] | None, typer.Option("--currency", help="All of them, as registered.")
    ] = None,
    address: Annotated[list[str] | None, typer.Option("--address", help="All of them.")] = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Take its calls from any address.")] = False,
    rate_per_s: Annotated[int | None, typer.Option("--rate-per-s", min=1, help="As registered.")] = None,
    rate_burst: Annotated[int | None, typer.Option("--rate-burst", min=1, help="As registered.")] = None,
    launch_url: Annotated[str | None, typer.Option("--launch-url", help="As registered.")] = None,
    closed: Annotated[bool | None, typer.Option("--closed/--open", help="Take none of its calls.")] = None,
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Change an operator's terms: what is not given stays as it is."""

    async def work() -> None:
        async with called("gateway", GATEWAY) as channel:
            stub = GatewayServiceStub(channel)
            before = granted(await stub.GetOperator(pb.GetOperatorRequest(operator=operator), timeout=CALL_S))
            terms = before.operator.terms
            if currency:
                del terms.currencies[:]
                terms.currencies.extend(map(_currency, currency))
            if address or anywhere:
                del terms.addresses[:]
                terms.addresses.extend(address or [])
            given = {
                "name": name,
                "rate_per_s": rate_per_s,
                "rate_burst": rate_burst,
                "launch_url": launch_url,
                "closed": closed,
            }
            for field, value in given.items():
                if value is not None:
                    setattr(terms, field, value)
            request = pb.ChangeOperatorRequest(
                request_id=request_id or _new_id(), operator=operator, terms=terms
            )
            answer = granted(await stub.ChangeOperator(request, timeout=CALL_S))
        Output(as_json=as_json).record(_row(answer.operator))

    run(work())


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """All operators."""

    async def work() -> None:
        rows: list[Row] = []
        async with called("gateway", GATEWAY) as channel:
            stub = GatewayServiceStub(channel)
            after, more = "", True
            while more:
                request = pb.ListOperatorsRequest(after=after, limit=_PAGE)
                page = await stub.ListOperators(request, timeout=CALL_S)
                rows += [_row(one) for one in page.operators]
                more = page.more and bool(page.operators)
                after = page.operators[-1].operator if page.operators else ""
        Output(as_json=as_json).rows(rows, "No operator is registered.")

    run(work())


@app.command()
def show(operator: Operator, as_json: AsJson = False) -> None:
    """One operator, and its keys without their secrets."""

    async def work() -> None:
        async with called("gateway", GATEWAY) as channel:
            request = pb.GetOperatorRequest(operator=operator)
            found = granted(await GatewayServiceStub(channel).GetOperator(request, timeout=CALL_S)).operator
        output = Output(as_json=as_json)
        output.record(_row(found))
        output.rows([_key_row(key) for key in found.keys], "It has no key yet.", title="Keys:")

    run(work())


@keys.command("add")
def add_key(
    operator: Operator,
    public_key: Annotated[
        Path | None, typer.Option("--public-key", help="A file with an RSA public key in PEM; else HMAC.")
    ] = None,
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Let an operator sign with a further key. Of one for HMAC the secret is shown, this once."""
    pem = ""
    if public_key is not None:
        try:
            pem = public_key.read_text(encoding="ascii")
        except (OSError, ValueError) as problem:
            raise typer.BadParameter(f"{public_key}: {problem}") from None
    request = pb.AddKeyRequest(
        request_id=request_id or _new_id(),
        operator=operator,
        algorithm=pb.ALGORITHM_RSA_SHA256 if pem else pb.ALGORITHM_HMAC_SHA256,
        public_key=pem,
    )

    async def work() -> None:
        async with called("gateway", GATEWAY) as channel:
            added = granted(await GatewayServiceStub(channel).AddKey(request, timeout=CALL_S)).added
        secret = {"secret_base64": base64.b64encode(added.secret).decode()} if added.secret else {}
        output = Output(as_json=as_json)
        output.record({"operator": operator, **_key_row(added.key), **secret})
        if secret:
            output.say("The secret is shown this once: hand it to the operator on a way that nobody reads.")

    run(work())


@keys.command("revoke")
def revoke_key(
    operator: Operator,
    key: Annotated[str, typer.Argument(help="The key's id.")],
    request_id: RequestId = "",
    as_json: AsJson = False,
) -> None:
    """Let an operator not sign with a key any more. It cannot be taken back: add another key."""
    request = pb.RevokeKeyRequest(request_id=request_id or _new_id(), operator=operator, key_id=key)

    async def work() -> None:
        async with called("gateway", GATEWAY) as channel:
            answer = granted(await GatewayServiceStub(channel).RevokeKey(request, timeout=CALL_S))
        Output(as_json=as_json).record({"operator": operator, **_key_row(answer.key)})

    run(work())


def _new_id() -> str:
    return str(uuid.uuid4())


def _word(text: str, words: dict[str, W]) -> W:
    if text not in words:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(words)}")
    return words[text]


def _currency(text: str) -> pb.CurrencyLimits:
    found = _CURRENCY.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no currency: write EUR, or EUR:100-50000")
    least, most = found["least"], found["most"]
    return pb.CurrencyLimits(
        currency=found["currency"],
        min_bet=int(least) if least else None,
        max_bet=int(most) if most else None,
    )


def _row(found: pb.Operator) -> Row:
    terms = found.terms
    limits = {
        one.currency: [
            one.min_bet if one.HasField("min_bet") else None,
            one.max_bet if one.HasField("max_bet") else None,
        ]
        for one in terms.currencies
    }
    return {
        "operator": found.operator,
        "name": terms.name,
        "environment": pb.Environment.Name(found.environment).removeprefix("ENVIRONMENT_").lower(),
        "wallet": pb.WalletKind.Name(found.wallet).removeprefix("WALLET_KIND_").lower(),
        "closed": terms.closed,
        "currencies": json.dumps(limits),
        "addresses": " ".join(terms.addresses) or "any",
        "rate_per_s": terms.rate_per_s,
        "rate_burst": terms.rate_burst,
        "launch_url": terms.launch_url or None,
        "keys_in_force": sum(not key.HasField("revoked_at") for key in found.keys),
    }


def _key_row(key: pb.Key) -> Row:
    return {
        "key": key.key_id,
        "algorithm": pb.Algorithm.Name(key.algorithm).removeprefix("ALGORITHM_").lower().replace("_", "-"),
        "fingerprint": key.fingerprint,
        "added_at": key.added_at.ToDatetime().isoformat(),
        "revoked_at": key.revoked_at.ToDatetime().isoformat() if key.HasField("revoked_at") else None,
    }
