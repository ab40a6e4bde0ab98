"""Migrations of the gateway's own tables beside its event log."""
