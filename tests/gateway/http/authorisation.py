"""Who may call which route: every route of the app has a line here, and a test fails for one that has not.

`signed`: operators, by a key in force. `anyone`: players and whoever has a link; what lets them in is said.
"""

from __future__ import annotations

from typing import Final, Literal

Who = Literal["signed", "anyone"]

ROUTES: Final[dict[str, Who]] = {
    "GET /v1/openapi.json": "anyone",
    "GET /v1/operator": "signed",
    "POST /v1/launch": "anyone",
    "POST /v1/players/{player}/erase": "signed",
    "POST /v1/sessions": "signed",
    "GET /v1/sessions/{session}": "signed",
    "POST /v1/sessions/{session}/keep_alive": "signed",
    "POST /v1/sessions/{session}/end": "signed",
    "GET /v1/sessions/{session}/reality": "signed",
    "GET /v1/players/{player}/sessions": "signed",
    "POST /v1/wallets/{player}/deposits": "signed",
    "POST /v1/wallets/{player}/withdrawals": "signed",
    "GET /v1/wallets/{player}/balances": "signed",
    "GET /v1/players/{player}/free-bets": "signed",
    "POST /v1/players/{player}/free-bets": "signed",
    "POST /v1/players/{player}/free-bets/{free_bet}/revoke": "signed",
    "GET /v1/tables": "signed",
    "GET /v1/tables/{table}": "signed",
    "GET /v1/tables/{table}/limits": "signed",
    "GET /v1/tables/{table}/payouts": "signed",
    "GET /v1/tables/{table}/rules": "signed",
    "GET /v1/jackpots": "signed",
    "GET /v1/players/{player}/rounds": "signed",
    "GET /v1/players/{player}/rounds/{round_name}": "signed",
    "GET /v1/players/{player}/rounds/{round_name}/events": "signed",
    "GET /v1/players/{player}/rounds/{round_name}/link": "signed",
    "GET /v1/rounds/{round_name}": "signed",
    "GET /v1/reports/open-rounds": "signed",
    "GET /v1/reports/open-rounds.csv": "signed",
    "GET /v1/players/{player}/statement": "signed",
    "GET /v1/players/{player}/statement.csv": "signed",
    "GET /v1/reports/transactions": "signed",
    "GET /v1/reports/transactions.csv": "signed",
    "GET /v1/reports/reconciliation": "signed",
    "GET /v1/reports/reconciliation.csv": "signed",
    "GET /v1/webhook-endpoints": "signed",
    "POST /v1/webhook-endpoints": "signed",
    "POST /v1/webhook-endpoints/{endpoint}/remove": "signed",
    "POST /v1/webhook-endpoints/{endpoint}/secret": "signed",
    "POST /v1/webhook-endpoints/{endpoint}/resend-parked": "signed",
    "GET /v1/webhooks": "signed",
    "GET /v1/webhooks/{webhook}": "signed",
    "POST /v1/webhooks/{webhook}/resend": "signed",
    "GET /r/{token}": "anyone",
    "GET /play": "anyone",
    "GET /play/tables/{table}/rules": "anyone",
}
