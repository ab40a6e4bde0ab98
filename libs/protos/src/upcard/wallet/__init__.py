"""Generated from proto/upcard/wallet; do not edit."""
