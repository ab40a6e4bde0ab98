"""Dead letters: events that could not be applied, copied to where people look for such."""
