"""Tamper evidence: a Merkle tree over a log, signed checkpoints, proofs, audit."""
