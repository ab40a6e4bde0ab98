"""Everything that a wallet has to do right, in the order in which it is played."""
