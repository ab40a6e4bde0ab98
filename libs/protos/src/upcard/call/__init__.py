"""Generated from proto/upcard/call; do not edit."""
