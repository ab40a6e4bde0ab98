"""Generated from proto/upcard/operations/v1; do not edit."""
