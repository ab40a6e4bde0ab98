"""Tips: a wallet transfer, whose id the table's `TipGiven` then names.

A seamless player's money lies with the operator, who is asked first: the tip is held as a command of its
own, in a round of its own (`tip_round`), and what is held goes to the tips. Should everybody die in between,
the hold is an old one after a while, and nobody's: it is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.balance import balance_of
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.hold_records import wager_of
from upcard_wallet.app.moving import Move, Moved, key_is_right, move
from upcard_wallet.app.ports import HoldChange, HoldsWanted, Posting
from upcard_wallet.app.purse import AccountRef, HoldGroup, HoldItem, Outcome, Refusal, SettledPlayer
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import HoldReleased, TipPosted
from upcard_wallet.domain.ids import (
    TIP,
    hold_id,
    is_amount,
    is_opaque_id,
    release_key,
    tip_name,
    tip_round,
)


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

    For internal purses; of seamless ones see `hold_tip`. Refused: `account_unknown`, `amount_invalid`,
    `funds_refused`, `purse_is_seamless`, `business_key_reused`, `business_key_invalid`, `id_invalid`.
    """
    account = (await wallet.ledger.accounts(connection, [command.account])).get(command.account)
    if account is None:
        return Done(Refused("account_unknown"))
    refusal = _refusal(command)
    if refusal is None and account.purse == "seamless":
        refusal = "purse_is_seamless"
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


async def hold_tip(
    wallet: Wallet, account: AccountRef, command: Tip, correlation_id: str, deadline: float
) -> Outcome | Refused:
    """Have a seamless player's operator asked for a tip; outside of any transaction.

    Once held, `post_held_tip` makes it one. The same again gives what is recorded. Refused: `amount_invalid`,
    `business_key_invalid`, `id_invalid`. Raises what `Purse.place` raises.
    """
    refusal = _refusal(command)
    if refusal is not None:
        return Refused(refusal)
    (outcome,) = await wallet.purses[account.purse].place(
        [_group(account, command, correlation_id)], deadline
    )
    return outcome


async def post_held_tip(
    wallet: Wallet, connection: Connection, account: AccountRef, command: Tip, origin: Origin
) -> Done[Moved | Refused]:
    """Held → operator, and operator → its tips; `HoldReleased` (reason `tip`) and `TipPosted`.

    So each of the two says what its transaction posted, as it does of any hold and any tip; the operator
    itself hears of neither, but that the tip's round is over. The same business key again has no second
    effect.
    Refused: `hold_answered_late` (it was given back meanwhile), `business_key_reused`.
    """
    (hold,) = _group(account, command, origin.correlation_id).holds
    rows = await wallet.ledger.lock_holds(connection, HoldsWanted(holds=[hold]), 1)
    books = Books(wallet)
    await books.find(connection, [account], kinds=("operator", "tips"))
    cash, tips = books.cash(account), books.operators("tips", account)
    draft = Draft(wallet)
    await draft.lock(connection, books.to_lock(account))
    business_key = f"tip/{command.business_key}"
    before = (await wallet.ledger.posted(connection, [business_key])).get(business_key)
    if before is not None:
        same = before.account == account.account and before.amounts == {
            cash: -command.amount,
            tips: command.amount,
        }
        if not same:
            return Done(Refused("business_key_reused"))
        return Done(Moved(str(before.transaction), await balance_of(wallet, connection, account)))
    if hold not in rows or rows[hold].state != "held":
        return Done(Refused(Refusal.ROLLED_BACK))
    round_name = tip_round(command.business_key)

    def post(kind: str, key: str, giver: int, taker: int) -> tuple[str, UUID]:
        event = wallet.recorder.new_id()
        both = [
            Posting(giver, account.currency, -command.amount),
            Posting(taker, account.currency, command.amount),
        ]
        made = draft.post(kind, key, both, event=event, account=account.account, round_name=round_name)
        return str(made), event

    transaction, event = post("release", release_key([hold]), books.of(account).held, cash)
    released = HoldReleased(round_name, transaction, TIP, (wager_of(rows[hold]),))
    draft.tell(account.account, released, origin, event)
    transaction, event = post("tip", business_key, cash, tips)
    draft.tell(
        account.account,
        TipPosted(transaction, command.amount, command.table, command.dealer),
        origin,
        event,
    )
    draft.change_hold(HoldChange(hold, "settled"))
    draft.close(SettledPlayer(account, round_name, 1, 0, event))
    appends = await draft.store(connection)
    return Done(Moved(transaction, await balance_of(wallet, connection, account)), appends)


def _group(account: AccountRef, command: Tip, correlation_id: str) -> HoldGroup:
    round_name, name = tip_round(command.business_key), tip_name(command.business_key)
    hold = hold_id(round_name, account.player, name, 1, TIP)
    item = HoldItem(hold, 1, TIP, command.amount)
    return HoldGroup(round_name, name, account, (item,), f"player:{account.player}", correlation_id)


def _refusal(command: Tip) -> str | None:
    if not is_amount(command.amount):
        return "amount_invalid"
    if not key_is_right(command.business_key):
        return "business_key_invalid"
    names = [name for name in (command.table, command.dealer) if name is not None]
    return None if all(map(is_opaque_id, names)) else "id_invalid"
