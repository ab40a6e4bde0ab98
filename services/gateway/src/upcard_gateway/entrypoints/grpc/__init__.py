"""Operators, administered over gRPC."""
