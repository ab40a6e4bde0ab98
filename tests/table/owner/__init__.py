"""Tests of the owner of a table: one task, real Postgres, a clock and a wallet of the test."""
