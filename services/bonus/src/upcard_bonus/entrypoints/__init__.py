"""Calls, consumers, and what goes on by itself."""
