"""Requests and answers of the platform API."""
