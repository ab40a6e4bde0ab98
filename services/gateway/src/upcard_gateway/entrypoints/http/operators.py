"""Operators, as they see themselves."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
