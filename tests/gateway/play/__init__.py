"""Players' connections."""
