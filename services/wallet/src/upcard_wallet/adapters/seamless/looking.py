"""Looking at partners: what a player has there, and how things stand with each."""

import datetime as dt
from collections.abc import Mapping, Sequence
from uuid import uuid4

from eventstore.postgres.connections import Connection
from upcard_seamless.answers import AnswerKind
from upcard_seamless.decisions import row_of
from upcard_wallet.adapters.seamless.asking import PartnerAt, ask
from upcard_wallet.adapters.seamless.circuit import Circuit
from upcard_wallet.adapters.seamless.observer import SeamlessObserver
from upcard_wallet.adapters.seamless.partner import Accepted, Call
from upcard_wallet.adapters.seamless.standing import Backlog, backlogs
from upcard_wallet.app.partners import PartnerStanding
from upcard_wallet.app.purse import AccountRef, PartnerCash


def balance_call(account: AccountRef) -> Call:
    """The question what a player has; it moves nothing, so its id is new each time."""
    return Call(
        uuid4(), "balance", account.operator, account.account, account.player, account.currency, None, ()
    )


class BalanceDesk:
    """Asks one partner for balances: at most so many at once, none while its circuit is open.

    What it says of balances leaves the circuit as it is: a partner may lack this call, and take bets.
    """

    def __init__(self, at: PartnerAt, circuit: Circuit, observer: SeamlessObserver) -> None:
        self._at = at
        self._circuit = circuit
        self._observer = observer
        self._under_way = 0

    async def ask(self, account: AccountRef, within_s: float) -> PartnerCash:
        """What the player has there, within the time; nobody waits in a line for it."""
        if self._circuit.down:
            return _unknown("not_asked")
        within_s = min(within_s, self._at.settings.balance_timeout_s)
        if within_s <= 0 or self._under_way >= self._at.settings.balances_at_once:
            return _unknown("not_sent")
        self._under_way += 1
        try:
            verdict, _ = await ask(self._at.partner, balance_call(account), within_s, self._observer)
        finally:
            self._under_way -= 1
        if row_of("balance", verdict.answer).state == "shown" and isinstance(verdict, Accepted):
            return PartnerCash(verdict.balance)
        return _unknown(verdict.answer)


def _unknown(answer: AnswerKind) -> PartnerCash:
    return PartnerCash(None, row_of("balance", answer).message)


async def standings(
    connection: Connection,
    partners: Mapping[str, PartnerAt],
    circuits: Mapping[str, Circuit],
    under_way: Mapping[str, int],
) -> Sequence[PartnerStanding]:
    """How things stand with each partner, ordered by operator; `under_way`: bets that are waited for."""
    backlog = {one.operator: one for one in await backlogs(connection)}
    return [
        _standing(operator, at, circuits[operator], under_way[operator], backlog.get(operator))
        for operator, at in sorted(partners.items())
    ]


def _standing(
    operator: str, at: PartnerAt, circuit: Circuit, under_way: int, backlog: Backlog | None
) -> PartnerStanding:
    return PartnerStanding(
        operator,
        at.partner.dialect_name,
        circuit.state,
        dt.datetime.fromtimestamp(circuit.since, dt.UTC),
        circuit.failures,
        under_way,
        None if circuit.answered_at is None else dt.datetime.fromtimestamp(circuit.answered_at, dt.UTC),
        backlog.waiting if backlog else 0,
        backlog.parked if backlog else 0,
        backlog.failing_for_s if backlog else 0.0,
    )
