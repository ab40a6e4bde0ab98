"""Tips: a wallet transfer, whose id the table's `TipGiven` then names."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.postgres import Connection
from upcard_wallet.app.moving import Move, Moved, key_is_right, move
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import TipPosted
from upcard_wallet.domain.ids import is_amount, is_opaque_id


@dataclass(frozen=True, slots=True)
class Tip:
    """Give a tip from a player's cash."""

    account: str
    amount: int
    business_key: str
    table: str | None = None
    dealer: str | None = None


async def tip(wallet: Wallet, connection: Connection, command: Tip, origin: Origin) -> Done[Moved | Refused]:
    """Cash → the operator's tips; `TipPosted`. The same business key again has no second effect.

    Refused: `account_unknown`, `amount_invalid`, `funds_refused`, `purse_is_seamless`, `business_key_reused`,
    `business_key_invalid`, `id_invalid`.
    """
    account = (await wallet.ledger.accounts(connection, [command.account])).get(command.account)
    if account is None:
        return Done(Refused("account_unknown"))
    refusal = _refusal(command, account)
    if refusal is not None:
        return Done(Refused(refusal))
    wanted = Move("tip", account, -command.amount, command.business_key, "tips")
    return await move(
        wallet,
        connection,
        wanted,
        lambda id_: TipPosted(id_, command.amount, command.table, command.dealer),
        origin,
    )


def _refusal(command: Tip, account: AccountRef) -> str | None:
    if not is_amount(command.amount):
        return "amount_invalid"
    if account.purse == "seamless":
        return "purse_is_seamless"
    if not key_is_right(command.business_key):
        return "business_key_invalid"
    names = [name for name in (command.table, command.dealer) if name is not None]
    return None if all(map(is_opaque_id, names)) else "id_invalid"
