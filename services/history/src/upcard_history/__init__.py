"""Rounds, statements and figures as projections; every finished round replayed."""
