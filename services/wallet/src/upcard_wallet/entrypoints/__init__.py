"""How the world reaches the wallet: calls, events of other services, and the clock."""
