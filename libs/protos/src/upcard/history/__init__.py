"""Generated from proto/upcard/history; do not edit."""
