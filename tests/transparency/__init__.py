"""The tree over a log, its checkpoints and proofs, and the audit, on real PostgreSQL."""
