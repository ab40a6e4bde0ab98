"""Who may see what of a round: its events and its table (RULES.md sections 4, 7 and 8; docs/views.md).

`viewers` says who looks, `entitlement` which face-down cards a player may see, `events` and `table` what is
shown. A view is built from what is allowed; nothing is taken away from something that holds more.
"""
