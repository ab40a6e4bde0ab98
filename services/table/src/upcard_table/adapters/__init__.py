"""The ports, on real servers."""
