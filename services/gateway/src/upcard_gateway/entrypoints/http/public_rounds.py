"""The page behind a signed link to a round."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
