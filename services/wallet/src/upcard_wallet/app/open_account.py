"""Opening an account."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.postgres import Connection
from upcard_wallet.app.draft import Draft
from upcard_wallet.app.purse import AccountRef, PurseKind
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import AccountOpened
from upcard_wallet.domain.ids import is_currency, is_opaque_id


@dataclass(frozen=True, slots=True)
class OpenAccount:
    """Open the account of a player of an operator in one currency."""

    account: str
    """Opaque id; the caller makes it (random), so that the same call again is the same account."""
    player: str
    operator: str
    currency: str
    purse: PurseKind


async def open_account(
    wallet: Wallet, connection: Connection, command: OpenAccount, origin: Origin
) -> Done[AccountRef | Refused]:
    """Open it, with its four books; `AccountOpened`.

    Opened already, with the same values: the account, and no events. Refused: `account_exists` (the id, or
    the player's currency, with other values), `id_invalid`, `currency_invalid`, `purse_unknown`.
    """
    refusal = _refusal(wallet, command)
    if refusal is not None:
        return Done(Refused(refusal))
    account = AccountRef(command.account, command.player, command.operator, command.currency, command.purse)
    if not await wallet.ledger.open_account(connection, account):
        found = await wallet.ledger.accounts(connection, [account.account])
        return Done(account if found.get(account.account) == account else Refused("account_exists"))
    draft = Draft(wallet)
    opened = AccountOpened(account.account, account.player, account.operator, account.currency, account.purse)
    draft.tell(account.account, opened, origin)
    return Done(account, await draft.store(connection))


def _refusal(wallet: Wallet, command: OpenAccount) -> str | None:
    if not all(map(is_opaque_id, (command.account, command.player, command.operator))):
        return "id_invalid"
    if not is_currency(command.currency):
        return "currency_invalid"
    return None if command.purse in wallet.purses else "purse_unknown"
