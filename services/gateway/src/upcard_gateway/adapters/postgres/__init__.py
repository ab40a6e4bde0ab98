"""The gateway's own tables."""
