"""Generated from proto/upcard/log/v1; do not edit."""
