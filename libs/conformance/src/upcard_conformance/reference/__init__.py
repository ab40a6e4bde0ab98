"""A partner's wallet: small, real, with a book of its own; what the kit is measured by."""
