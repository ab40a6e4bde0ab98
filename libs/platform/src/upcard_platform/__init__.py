"""What a casino platform's programmer needs to integrate Upcard."""
