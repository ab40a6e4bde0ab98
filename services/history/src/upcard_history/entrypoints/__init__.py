"""How others reach the history: calls and exports."""
