"""`upcard wallet`: balances and statements."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final

import typer
from google.protobuf.timestamp_pb2 import Timestamp

from upcard.wallet.v1 import wallet_pb2
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_operate.calling import CALL_S, called, granted
from upcard_operate.options import AsJson
from upcard_operate.output import Misused, Output, Row
from upcard_operate.running import run

app = typer.Typer(no_args_is_help=True, help="Players' money: balances, statements.")

WALLET = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]
_PAGE: Final = 1_000

Account = Annotated[str, typer.Argument(help="The account's id.")]


@app.command()
def balance(account: Account, as_json: AsJson = False) -> None:
    """What an account has now, in minor units."""

    async def work() -> None:
        async with called("wallet", WALLET) as channel:
            request = wallet_pb2.GetBalanceRequest(account=account)
            found = granted(await WalletServiceStub(channel).GetBalance(request, timeout=CALL_S)).found
        row = {
            "account": found.account.account,
            "player": found.account.player,
            "operator": found.account.operator,
            "currency": found.account.currency,
            **_amounts(found.balance),
        }
        Output(as_json=as_json).record(row)

    run(work())


@app.command()
def statement(
    account: Account,
    since: Annotated[str, typer.Option(help="From this instant: 2026-01-31 or 2026-01-31T12:00:00Z.")],
    until: Annotated[str, typer.Option(help="Up to this instant, which is not in it; else now.")] = "",
    as_json: AsJson = False,
) -> None:
    """What changed an account in a period, with the balance before and after, in minor units."""

    async def work() -> None:
        begin = instant(since)
        end = instant(until) if until else dt.datetime.now(dt.UTC)
        output = Output(as_json=as_json)
        rows: list[Row] = []
        async with called("wallet", WALLET) as channel:
            stub = WalletServiceStub(channel)
            after, more = 0, True
            page = wallet_pb2.Statement()
            while more:
                request = wallet_pb2.GetStatementRequest(
                    account=account, since=_stamp(begin), until=_stamp(end), after=after, limit=_PAGE
                )
                page = granted(await stub.GetStatement(request, timeout=CALL_S)).statement
                if not after:
                    output.record({"opening": account, **_amounts(page.opening)})
                rows += [_line(line) for line in page.lines]
                after, more = (page.lines[-1].position, page.more) if page.lines else (after, False)
        output.rows(rows, "Nothing happened in this period.")
        output.record({"closing": account, **_amounts(page.closing)})

    run(work())


def instant(text: str) -> dt.datetime:
    """A day or an instant in UTC. Raises Misused."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise Misused(f"{text!r} is no instant: write 2026-01-31 or 2026-01-31T12:00:00Z") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)


def _stamp(moment: dt.datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment.astimezone(dt.UTC).replace(tzinfo=None))
    return stamp


def _amounts(found: wallet_pb2.Balance) -> dict[str, object]:
    return {"cash": found.cash, "held": found.held, "promo": found.promo, "owed": found.owed}


def _line(line: wallet_pb2.StatementLine) -> Row:
    return {
        "at": line.recorded_at.ToDatetime(dt.UTC),
        "kind": line.kind,
        **_amounts(line.changes),
        "round": line.round,
        "revision": line.revision or None,
        "transaction": line.transaction,
        "event": line.event,
        "caused_by": line.cause_event,
    }
