"""The edge: what casino platforms, players and people at work call."""
