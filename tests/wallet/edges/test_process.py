"""The wallet as a program: settings, readiness, metrics, its partners, the order of its stop."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from servicekit.grpc import acting_as
from servicekit.settings import WrongSettings, load_settings
from stack import Stack
from tests.eventstore.test_append_only import as_role
from tests.messaging.waiting import until
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round
from tests.wallet.edges.processes import (
    PLATFORM,
    ROOT,
    WalletProcess,
    calls,
    environment,
    in_thread,
    running,
)
from tests.wallet.partner import SECRET, PartnerServer
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.entrypoints.grpc.access import ACCESS
from upcard_wallet.settings import WalletSettings


def test_it_says_that_it_is_ready_and_shows_metrics(wallet: WalletProcess) -> None:
    status, body = wallet.ask("/health/ready")
    assert status == 200, body
    shown = wallet.ask("/metrics")[1]
    for name in (
        "upcard_wallet_hold_commands_total",
        "upcard_wallet_settlements_total",
        "upcard_wallet_suspense_minor_units_total",
        "upcard_wallet_differences",
        "upcard_wallet_difference_alarms",
        "upcard_wallet_oldest_open_hold_seconds",
        "upcard_wallet_partner_calls_parked_total",
        "upcard_relay_lag_events",
        "upcard_consumer_lag_events",
        "upcard_follower_streams_parked_total",
        "upcard_grpc_server_calls_total",
    ):
        assert f"# HELP {name} " in shown, name


def test_every_call_says_who_may_make_it() -> None:
    service = pb.DESCRIPTOR.services_by_name["WalletService"]
    assert set(ACCESS) == set(service.methods_by_name)
    assert all(access.callers for access in ACCESS.values()), "no call is open to every service"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"UPCARD_TABLE_ADDRESS": ""}, "UPCARD_TABLE_ADDRESS"),
        (
            {"UPCARD_KAFKA_REPLICAS": "1", "UPCARD_KAFKA_REPLICAS_IN_SYNC": "2"},
            "UPCARD_KAFKA_REPLICAS_IN_SYNC",
        ),
        ({"UPCARD_KAFKA_NAMESPACE": "a.b"}, "UPCARD_KAFKA_NAMESPACE"),
        ({"UPCARD_PARTNERS": '{"op1": "ftp://x"}', "UPCARD_PARTNER_SECRETS": "{}"}, "UPCARD_PARTNERS"),
        ({"UPCARD_PARTNERS": '{"op1": "https://x"}'}, "UPCARD_PARTNER_SECRETS"),
        (
            {"UPCARD_PARTNERS": '{"op1": "https://x"}', "UPCARD_PARTNER_SECRETS": '{"op1": "short-secret"}'},
            "UPCARD_PARTNER_SECRETS",
        ),
        ({"UPCARD_PARTNER_PARK_AFTER_S": "60"}, "UPCARD_PARTNER_PARK_AFTER_S"),
        ({"UPCARD_PARTNERS_DISTRUSTED": '["op1"]'}, "UPCARD_PARTNERS_DISTRUSTED"),
    ],
)
def test_wrong_settings_are_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], named: str
) -> None:
    for name, value in environment(stack, "postgresql://nobody@127.0.0.1:1/none", **wrong).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as caught:
        load_settings(WalletSettings)
    (problem,) = caught.value.problems
    assert named in problem
    assert "short-secret" not in problem


def test_a_wrong_setting_ends_the_program(stack: Stack) -> None:
    settings = environment(stack, "postgresql://nobody@127.0.0.1:1/none", UPCARD_TABLE_ADDRESS="")
    done = subprocess.run(
        [sys.executable, "-m", "upcard_wallet"],
        cwd=ROOT,
        env=settings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "UPCARD_TABLE_ADDRESS" in done.stderr) == (2, True), done.stderr


async def test_a_partners_player_bets_and_wins(stack: Stack, database: str, service_role: str) -> None:
    async with PartnerServer() as partner:
        settings = environment(
            stack,
            as_role(database, service_role, PASSWORD),
            UPCARD_PARTNERS=json.dumps({"op9": partner.address}),
            UPCARD_PARTNER_SECRETS=json.dumps({"op9": SECRET.decode()}),
        )
        process = running(settings)
        wallet = await in_thread(process.__enter__)
        try:
            async with calls(wallet) as stub:
                client = Client(stub)
                partner.balances[client.player, "EUR"] = 100
                with acting_as(PLATFORM):
                    await client.open(purse=pb.PURSE_SEAMLESS, operator="op9")
                    assert (await client.deposit(5)).refusal.reason == "purse_is_seamless"
                name = new_round()
                (held,) = await client.place(client.bet(name, 60))
                (refused,) = await client.place(client.bet(name, 60))
                assert (held.outcome, refused.reason) == (pb.HOLD_OUTCOME_HELD, "funds_refused")
                assert partner.balances[client.player, "EUR"] == 40
                request = pb.ReleaseHoldsRequest(
                    request_id=fresh(), holds=held.holds, reason=pb.RELEASE_REASON_WITHDRAWN
                )
                await stub.ReleaseHolds(request, timeout=TIMEOUT_S)
                await until(lambda: partner.balances[client.player, "EUR"] == 100)
                assert not partner.complaints
                assert SECRET.decode() not in wallet.said
        finally:
            process.__exit__(None, None, None)
