"""Side bets announced, progressive jackpots, free bets."""
