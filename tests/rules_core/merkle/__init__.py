"""Merkle trees against RFC 9162's own definition, which builds each tree anew."""
