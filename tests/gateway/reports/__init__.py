"""Reports of players' money, over a real history and a real wallet."""
