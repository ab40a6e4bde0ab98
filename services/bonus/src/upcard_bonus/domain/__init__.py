"""What is so, whatever machine it runs on: side bets, jackpots, free bets."""
