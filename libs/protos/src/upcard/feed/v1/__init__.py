"""Generated from proto/upcard/feed/v1; do not edit."""
