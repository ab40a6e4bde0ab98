"""The lobby: what is kept for a moment, boards and rules, free bets."""
