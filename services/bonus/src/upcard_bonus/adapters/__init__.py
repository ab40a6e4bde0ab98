"""Postgres, metrics, and where secrets lie."""
