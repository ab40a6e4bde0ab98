"""Generated from proto/upcard/feed; do not edit."""
