"""The log: event contents, the hash chain over them, openings of face-down cards, and bundles."""
