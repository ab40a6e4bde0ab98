"""Generated from proto/upcard/table; do not edit."""
