"""Webhooks, listed and sent again."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter()
