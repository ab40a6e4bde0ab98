"""Generated from proto/upcard/history/v1; do not edit."""
