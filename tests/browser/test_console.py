"""The console, by the things that a person would do there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from predicast.protocol import Settings
from tests.browser.world import Site
from tests.thorough import LONG

expect.set_options(timeout=60_000)
at_length = pytest.mark.skipif(
    not LONG, reason="one look is enough here; make browser-test does all"
)


def write(page: Page, text: str) -> None:
    """Replace what is in the editor, key by key."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)


def test_subscribe_fix_a_typo_publish_and_see_it_arrive(page: Page, site: Site) -> None:
    site.publish({"price": 5, "symbol": "ACME"}, {"price": 50, "symbol": "ACME"})
    page.goto("/console/subscriptions")
    page.get_by_role("button", name="New subscription").click()
    page.get_by_label("Id", exact=True).fill("cheap-acme")
    write(page, "price < AND symbol = 'ACME'")
    expect(page.get_by_role("alert")).to_contain_text("line 1, column 9")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    write(page, "price < 10 AND symbol = 'ACME'")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text(re.compile(r"^1 of the last \d+ events"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="cheap-acme")).to_be_visible()

    page.goto("/console/tester")
    write(page, '{"price": 7, "symbol": "ACME"}')
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("link", name="See what became of it").click()
    expect(page.get_by_text("Acknowledged")).to_be_visible()
    expect(page.get_by_role("link", name="cheap-acme")).to_be_visible()
    assert site.acknowledge("cheap-acme", 10) == 1
    expect(page.get_by_role("cell", name="acknowledged", exact=True)).to_be_visible()


@at_length
def test_ask_who_gets_an_event_and_who_just_misses_it(page: Page, site: Site) -> None:
    site.subscribe("tester-yes", "colour = 'red' AND size < 10")
    site.subscribe("tester-near", "colour = 'red' AND size < 5")
    site.subscribe("tester-far", "colour = 'blue' AND size < 5")
    page.goto("/console/tester")
    write(page, '{"colour": "red" "size": 7}')
    page.get_by_role("button", name="Who gets it?").click()
    expect(page.get_by_role("alert")).to_contain_text("not JSON")
    write(page, '{"colour": "red", "size": 7}')
    page.get_by_role("button", name="Who gets it?").click()
    expect(page.get_by_text("Gets it: 1", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="tester-yes")).to_be_visible()
    expect(page.get_by_text("failed by size < 5")).to_be_visible()
    expect(page.get_by_role("link", name="tester-near")).to_be_visible()
    expect(page.get_by_role("link", name="tester-far")).to_have_count(0)


@at_length
def test_follow_events_by_a_filter(page: Page, site: Site) -> None:
    page.goto("/console/tail")
    filter = page.get_by_label(re.compile("Filter"))
    filter.fill("level >")
    filter.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    filter.fill("level > 3")
    filter.press("Enter")
    expect(page.get_by_text("Following: 0 events.")).to_be_visible()
    site.publish({"level": 2, "text": "quiet one"}, {"level": 5, "text": "loud one"})
    expect(page.get_by_text("loud one")).to_be_visible()
    expect(page.get_by_text("quiet one")).to_have_count(0)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped after 1 events.")).to_be_visible()


@at_length
def test_try_a_dead_letter_again(page: Page, site: Site) -> None:
    settings = Settings(max_attempts=2, ack_wait=5.0)
    site.subscribe("hook", "topic = 'hook'", settings=settings)
    site.publish({"topic": "hook"})
    site.give_up("hook", "the endpoint said 503")
    page.goto("/console/deliveries")
    row = page.get_by_role("row").filter(has_text="the endpoint said 503")
    row.get_by_role("checkbox").click()
    page.get_by_role("button", name="Try again").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="hook")).to_contain_text("1")
    assert site.acknowledge("hook", 10) == 1


@at_length
def test_everything_by_keyboard(page: Page, site: Site) -> None:
    page.goto("/")
    page.keyboard.press("Alt+2")
    expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()
    page.get_by_role("button", name="New subscription").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Subscription", exact=True)).to_be_visible()
    page.get_by_label("Id", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("by-keyboard")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('cm-content')"):
            break
    page.keyboard.type("weight > 3")
    expect(page.get_by_role("status")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link", name="by-keyboard")).to_be_visible()


@at_length
def test_a_map_shows_regions_and_what_moves(page: Page, site: Site) -> None:
    site.subscribe("harbour", "x BETWEEN 0 AND 10 AND y BETWEEN 0 AND 5")
    page.goto("/console/map")
    expect(page.locator("svg.map rect.region")).to_have_count(1)
    site.publish({"object": "ferry-1", "x": 3, "y": 4})
    expect(page.locator("svg.map circle.object")).to_have_count(1)


@at_length
def test_whatever_can_be_used_has_a_name(page: Page, site: Site) -> None:
    site.subscribe("named", "topic = 'named'", settings=Settings(max_attempts=1))
    site.publish({"topic": "named"})
    site.give_up("named", "the endpoint said 500")
    page.goto("/console/subscriptions/edit")
    expect(page.get_by_role("textbox", name="Expression")).to_be_visible()
    expect(page.get_by_role("heading", name="What it would have matched")).to_be_visible()
    page.goto("/console/tester")
    expect(page.get_by_role("textbox", name="An event")).to_be_visible()
    page.goto("/console/deliveries")
    expect(page.get_by_role("checkbox", name="All dead letters")).to_be_visible()
    expect(page.get_by_role("checkbox", name="This dead letter").first).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("img", name="Events and deliveries a second")).to_be_visible()


@at_length
def test_light_and_dark_are_remembered(page: Page, site: Site) -> None:
    page.goto("/")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))
    page.goto("/console/events")
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))


@at_length
def test_nothing_is_shown_without_a_token(browser: Browser, tmp_path: Path) -> None:
    # A process has one console at a time, and this one is not the others'.
    command = [sys.executable, "-m", "tests.browser.world", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        page = browser.new_page(base_url=run.stdout.readline().strip())
        page.goto("/console/subscriptions")
        expect(page.get_by_role("heading", name="Predicast")).to_be_visible()
        page.get_by_label("Token").fill("guessed")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("does not know this token")
        page.get_by_label("Token").fill("secret")
        page.keyboard.press("Enter")
        expect(page.get_by_text("tenant acme")).to_be_visible()
        page.goto("/console/subscriptions")
        expect(page.get_by_text("needs a token with the scope subscribe")).to_be_visible()
        page.get_by_role("link", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        page.get_by_label("Token").fill("secret")
        page.keyboard.press("Enter")
        expect(page.get_by_text("tenant acme")).to_be_visible()
        assert run.stdin is not None
        run.stdin.write("\n")  # the token is removed, and the page that is open ends
        run.stdin.flush()
        expect(page.get_by_label("Token")).to_be_visible()
        page.close()


@at_length
def test_on_a_narrow_screen_the_page_is_not_covered(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 760})
    page.goto("/console/subscriptions/edit")
    page.locator(".cm-content").click()
    page.keyboard.type("price <")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("link", name="Tester")).not_to_be_visible()
    page.get_by_label("Show or hide the pages").click()
    page.get_by_role("link", name="Tester").click()
    page.wait_for_url("**/console/tester")
    site.subscribe("wide", "price BETWEEN 10 AND 20 AND symbol IN ('IBM', 'SAP')", owner="wide")
    page.goto("/console/subscriptions")
    page.get_by_label("Owner").fill("wide")
    expression = page.get_by_role("cell", name=re.compile("price BETWEEN"))
    expect(expression).to_be_visible()
    box = expression.bounding_box()
    assert box is not None
    assert box["width"] >= 200  # to be read in a few lines, if the table has to be scrolled for it
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/console/subscriptions/edit")
    expect(page.get_by_role("link", name="Tester")).to_be_visible()
    page.get_by_label("Show or hide the pages").click()
    expect(page.get_by_role("link", name="Tester")).not_to_be_visible()
