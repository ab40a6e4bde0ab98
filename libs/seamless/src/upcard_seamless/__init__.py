"""The protocol towards partners' wallets."""
