"""The wallet as a program, with a partner of another dialect."""

from __future__ import annotations

import json

from servicekit.grpc import acting_as
from stack import Stack
from tests.eventstore.test_append_only import as_role
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round
from tests.wallet.edges.processes import PLATFORM, calls, environment, in_thread, running, staff
from tests.wallet.seamless.scripted import ScriptedWallet, keys
from upcard.wallet.v1 import partners_pb2 as partners
from upcard.wallet.v1 import wallet_pb2 as pb


async def test_a_partner_of_another_dialect_is_asked_told_and_shown(
    stack: Stack, database: str, service_role: str
) -> None:
    secret, _ = keys("single")
    async with ScriptedWallet("single") as scripted:
        settings = environment(
            stack,
            as_role(database, service_role, PASSWORD),
            UPCARD_PARTNERS=json.dumps({"op9": scripted.address}),
            UPCARD_PARTNER_SECRETS=json.dumps({"op9": secret.decode()}),
            UPCARD_PARTNER_DIALECTS=json.dumps({"op9": "single"}),
        )
        process = running(settings)
        wallet = await in_thread(process.__enter__)
        try:
            async with calls(wallet) as stub:
                client = Client(stub)
                await scripted.on_book(lambda book: book.open(client.player, "EUR", 100))
                with acting_as(PLATFORM):
                    await client.open(purse=pb.PURSE_SEAMLESS, operator="op9")
                (held,) = await client.place(client.bet(new_round(), 60))
                assert held.outcome == pb.HOLD_OUTCOME_HELD
                asked = pb.GetBalanceRequest(account=client.account, ask_partner=True)
                with acting_as(PLATFORM):
                    found = (await stub.GetBalance(asked, timeout=TIMEOUT_S)).found
                assert (found.partner.cash, found.balance.held) == (40, 60)
                request = pb.ReleaseHoldsRequest(
                    request_id=fresh(), holds=held.holds, reason=pb.RELEASE_REASON_WITHDRAWN
                )
                await stub.ReleaseHolds(request, timeout=TIMEOUT_S)
                await scripted.called("rollback", 1)
                with acting_as(staff("anna", "operations")):
                    listed = await stub.ListPartners(partners.ListPartnersRequest(), timeout=TIMEOUT_S)
                (one,) = listed.partners
                assert (one.operator, one.dialect, one.circuit) == ("op9", "single", partners.CIRCUIT_CLOSED)
                assert await scripted.owns(client.player) == 100
            shown = (await in_thread(lambda: wallet.ask("/metrics")))[1]
            assert 'upcard_wallet_partner_circuit{operator="op9"} 0.0' in shown
            assert secret.decode().splitlines()[1] not in wallet.said
        finally:
            process.__exit__(None, None, None)
