"""Rounds, as a platform may see them."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
