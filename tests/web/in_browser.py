"""A real browser, and what a hand and an eye do with it; skipped where there is none."""

import os
import shutil

import pytest


playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium", allow_module_level=True)

QUIETLY = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 40_000
"""Milliseconds; a loaded machine compiles slowly."""


def says(page, place, words):
    """Wait until an element says these words."""
    found = page.locator(f"#{place}")
    playwright.expect(found).to_contain_text(words, timeout=PATIENCE)


def dragged(page, place, start, end, pause=0):
    """Drag a slider with the mouse from one fraction of its width to another, in eight moves."""
    page.locator(f"#{place}").scroll_into_view_if_needed()
    box = page.locator(f"#{place}").bounding_box()
    at = lambda part: (box["x"] + part * box["width"], box["y"] + box["height"] / 2)
    page.mouse.move(*at(start))
    page.mouse.down()
    for move in range(1, 9):
        page.mouse.move(*at(start + (end - start) * move / 8))
        page.wait_for_timeout(pause)
    page.mouse.up()


def looked_at(page, name):
    """Keep a picture of the whole page where one is asked for."""
    folder = os.environ.get("REMANENCE_SCREENSHOTS")
    if folder:
        width = page.viewport_size["width"]
        page.screenshot(path=f"{folder}/{name}-{width}.png", full_page=True)
