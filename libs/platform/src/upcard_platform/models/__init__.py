"""Requests and answers of the platform API, a module an area; the gateway serves these same models.

`operators` who you are; `sessions` players' sessions; `wallets` transfer wallets; `lobby` tables, boards,
rules, free bets, jackpots; `rounds` what was played; `reports` money; `webhooks` what is sent to you; and
`fields` what they have in common. Some names are there twice (`Balance`, `Currency`): import the module.
"""
