"""The problems of each part of the platform API."""
