"""Debian's Chromium without a window, and what a page complains of while a test looks at it.

`UPCARD_CHROMIUM` names another one; `UPCARD_PICTURES` a folder that keeps the pictures.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    async_playwright,
    expect,
)

ARGUMENTS: Final = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
)
WAIT_MS: Final = 60_000
"""Longest wait for anything on a page: a busy machine is no defect."""
WIDE: Final = (1280, 860)
NARROW: Final = (390, 844)
"""A telephone that is held upright."""

expect.set_options(timeout=WAIT_MS)

_VIOLATIONS: Final = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`content security policy: ${event.violatedDirective} blocked ${event.blockedURI}`);
});
"""


class NoChromium(Exception):
    """There is no Chromium on this machine."""


def executable() -> str:
    """The program. Raises NoChromium."""
    named = os.environ.get("UPCARD_CHROMIUM")
    found = named or shutil.which("chromium")
    if found is None or not Path(found).exists():
        raise NoChromium(
            "pages need Chromium: install Debian's `chromium`, or say where one is with UPCARD_CHROMIUM"
        )
    return found


@contextlib.asynccontextmanager
async def started() -> AsyncIterator[Browser]:
    """Chromium as a process, closed at the end."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(),
            headless=True,
            args=[*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])],
            timeout=WAIT_MS,
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Browsing:
    """Windows for one test; each page has cookies of its own unless it is opened beside another."""

    browser: Browser
    pictures: Path
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """Errors of scripts, of the console, and of the content security policy, of all pages so far."""
    allowed: list[str] = field(default_factory=list)

    async def page(
        self,
        *,
        size: tuple[int, int] = WIDE,
        scheme: Literal["light", "dark"] = "light",
        beside: Page | None = None,
        javascript: bool = True,
    ) -> Page:
        """A fresh page; `beside` another it shares that page's cookies (and size and colours)."""
        if beside is not None:
            context = beside.context
        else:
            width, height = size
            context = await self.browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                java_script_enabled=javascript,
                reduced_motion="reduce",
                timezone_id="UTC",
                locale="en-GB",
            )
            context.set_default_timeout(WAIT_MS)
            context.set_default_navigation_timeout(WAIT_MS)
            await context.add_init_script(_VIOLATIONS)
            self.contexts.append(context)
        page = await context.new_page()
        page.on("console", self._console)
        page.on("pageerror", self._failed)
        return page

    def allow(self, *texts: str) -> None:
        """Complaints that hold one of these texts are meant, such as `status of 403`."""
        self.allowed.extend(texts)

    async def picture(self, page: Page, name: str, *, whole: bool = True) -> Path:
        """A picture of a page, whole or as far as the window shows it; where it lies."""
        path = self.pictures / f"{name}.png"
        await page.screenshot(path=path, full_page=whole, animations="disabled", timeout=WAIT_MS)
        return path

    async def both(self, page: Page, name: str, *, whole: bool = True) -> None:
        """A picture in light and one in dark."""
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await self.picture(page, f"{name}-{scheme}", whole=whole)
        await page.emulate_media(color_scheme="light")

    async def close(self) -> None:
        """Close every page."""
        for context in self.contexts:
            with contextlib.suppress(Error):  # one whose browser has gone is closed
                await context.close()
        self.contexts.clear()

    def unexpected(self) -> list[str]:
        """Complaints that nobody has allowed."""
        return [one for one in self.complaints if not any(text in one for text in self.allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            where = message.location
            self.complaints.append(f"{message.text} ({where.get('url', '')}:{where.get('lineNumber', '')})")

    def _failed(self, error: Error) -> None:
        self.complaints.append(f"script: {error.message}\n{error.stack or ''}")
