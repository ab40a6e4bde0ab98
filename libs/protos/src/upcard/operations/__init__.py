"""Generated from proto/upcard/operations; do not edit."""
