"""Rounds of a platform's players, over a real history and a real wallet."""
