"""Generated from proto/upcard/table/v1; do not edit."""
