"""How the gateway is reached."""
