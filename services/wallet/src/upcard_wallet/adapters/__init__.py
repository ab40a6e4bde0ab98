"""What the wallet stands on: its database, partners, and others outside."""
