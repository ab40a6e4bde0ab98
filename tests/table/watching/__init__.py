"""Tests of watching tables."""
