"""Generated from proto/upcard/bonus/v1; do not edit."""
