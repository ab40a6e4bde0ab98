"""How the world reaches the tables: calls of people and readers, and of instances among each other."""
