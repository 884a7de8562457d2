"""Pictures of every page, light and dark, for the documentation.

``python -m tests.browser.pictures`` takes them anew.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from predicast.demo import moving_objects
from predicast.language.json_form import event_to_json
from predicast.protocol import Settings
from tests.browser.world import Site, served

FOLDER = Path(__file__).parents[2] / "docs" / "how-to" / "figures" / "console"
REGIONS = 60
REPORTS = 700
SIZE = {"width": 1180, "height": 720}
SALES = [
    {"symbol": symbol, "price": price, "volume": volume}
    for symbol, price, volume in (
        ("IBM", 9.5, 300),
        ("SAP", 11.0, 120),
        ("IBM", 12.25, 900),
        ("AMD", 8.75, 450),
        ("IBM", 9.9, 60),
    )
]


class Neighbours:
    """The status of links, as a broker in the middle of a small tree would have it."""

    def status(self, tenant: str) -> dict[str, Any]:
        return {
            "tenant": tenant,
            "name": "leipzig",
            "level": 1,
            "parent": "hamburg",
            "is_attached": True,
            "is_settled": True,
            "problem": None,
            "parents": [],
            "neighbours": [
                _neighbour("hamburg", "parent", 4_210, 1_862),
                _neighbour("dresden", "child", 960, 2_051),
                _neighbour("erfurt", "child", 12, 418, is_connected=False),
            ],
        }


def _neighbour(
    name: str, role: str, came: int, went: int, *, is_connected: bool = True
) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "state": "up",
        "is_connected": is_connected,
        "wanted": went // 40,
        "announced": came // 60,
        "waiting": 0 if is_connected else 37,
        "traffic": {"events_in": came, "events_out": went, "bytes_in": 0, "bytes_out": 0},
        "refused": None,
    }


def furnish(site: Site) -> None:
    """Subscriptions, events, a slow consumer and dead letters."""
    site.subscribe("alice-1", "price < 10 AND symbol = 'IBM'", owner="alice")
    site.subscribe("bob-1", "symbol IN ('IBM', 'SAP') AND price > 9", owner="bob")
    site.subscribe("bob-large", "volume >= 500 AND symbol = 'IBM'", owner="bob")
    site.subscribe("desk", "price * volume > 1000", owner="desk", settings=Settings(max_pending=50))
    site.subscribe("hook", "symbol = 'AMD'", owner="carol", settings=Settings(max_attempts=2))
    site.publish(*SALES, publisher="exchange")
    site.give_up("hook", "the endpoint said 503 Service Unavailable")
    site.acknowledge("alice-1", 1)
    world = moving_objects.world(0.3)
    for id, text in list(world.subscriptions.items())[:REGIONS]:
        site.subscribe(id, text, owner=id.partition("-")[0])
    ids = world.events["report"].to_pylist()[:REPORTS]
    reports = [json.loads(event_to_json(world.event(id))) for id in ids]
    site.publish(*reports, publisher="strait")
    site.publish(*SALES, publisher="exchange")


def _editor(page: Page) -> None:
    page.locator(".cm-content").click()
    page.keyboard.type("price <\n  AND symbol = 'IBM'")
    page.get_by_role("alert").wait_for()


def _tester(page: Page) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('{"symbol": "IBM", "price": 9.5, "volume": 300}')
    page.get_by_role("button", name="Who gets it?").click()
    page.get_by_text("Missed it by one test").wait_for()


def _tail(page: Page) -> None:
    page.get_by_label("Filter").fill("symbol = 'IBM' OR kind = 'ferry'")
    page.keyboard.press("Enter")
    page.get_by_text("Following").wait_for()


# What is photographed: the name of the picture, the address, and what is done there first.
SCENES: list[tuple[str, str, Any]] = [
    ("overview", "/", None),
    ("subscriptions", "/console/subscriptions", None),
    ("editor", "/console/subscriptions/edit", _editor),
    ("preview", "/console/subscriptions/edit?id=alice-1", None),
    ("tester", "/console/tester", _tester),
    ("tail", "/console/tail", _tail),
    ("events", "/console/events", None),
    ("event", "/console/events/1", None),
    ("deliveries", "/console/deliveries", None),
    ("brokers", "/console/brokers", None),
    ("map", "/console/map", None),
]


def shrink(picture: bytes, path: Path) -> None:
    """Write it with as many colours as it needs to look the same, in fewer bytes."""
    colours = (
        Image.open(BytesIO(picture)).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    )
    colours.save(path, optimize=True)


def photograph(browser: Browser, site: Site, folder: Path) -> None:
    """Every page, light and dark, with some traffic going on."""
    for scheme in ("light", "dark"):
        context = browser.new_context(base_url=site.url, viewport=SIZE, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(60_000)
        for name, path, act in SCENES:
            page.goto(path)
            if act is not None:
                act(page)
            for _ in range(6 if name in {"overview", "tail"} else 1):
                if name in {"overview", "tail"}:
                    site.publish(*SALES, publisher="exchange")
                    site.acknowledge("alice-1", 100)
                page.wait_for_timeout(1000)
            picture = page.screenshot(full_page=name == "tester")  # what matters there is below
            shrink(picture, folder / f"{name}-{scheme}.png")
        context.close()


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as data,
        served(Path(data), tree=Neighbours()) as site,
        sync_playwright() as playwright,
    ):
        furnish(site)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        photograph(browser, site, folder)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
