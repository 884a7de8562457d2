"""A real browser: Debian's Chromium, which Playwright drives."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.world import Site, served
from tests.debian import program


# While it runs, this thread has an event loop, which tests of other modules would trip over.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium-browser") or program("chromium", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One broker for all tests here: each has subscriptions and events of its own.

    It is gone before others need a console in this process, which has one at a time.
    """
    with served(Path(tmp_path_factory.mktemp("console"))) as site:
        yield site


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page that fails its test if a script fails or something outside is asked for."""
    context = browser.new_context(base_url=site.url, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(60_000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.extend(_outside(request.url, site.url)))
    yield page
    context.close()
    assert problems == []


def _outside(url: str, own: str) -> list[str]:
    is_own = url.startswith((own, own.replace("http", "ws"), "data:", "blob:"))
    return [] if is_own else [f"asked for {url}"]
