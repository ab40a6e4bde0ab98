"""What the wallet does: one use case a file, and the ports that they need."""
