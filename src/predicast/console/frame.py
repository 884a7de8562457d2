"""What stands around every page: the list of pages, light and dark, and how errors are shown."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from nicegui import Client, background_tasks, ui

from predicast.console.checking import Mistake, mistake_of
from predicast.console.place import Page, Place
from predicast.errors import BackendError, NotAllowedError, PredicastError

ACCENT: Final = "#0d7d72"
DARK: Final = "predicast-dark"  # the cookie that keeps the choice; without one, it is the system's
_SWITCH: Final = (
    "() => { const dark = !document.body.classList.contains('body--dark'); setDark(dark); "
    f"document.cookie = '{DARK}=' + dark + ';path=/;max-age=31536000;samesite=strict'; }}"
)
_LOOKED_S: Final = 2.0  # between looks whether the visitor is still let in
_LEAVING_S: Final = 5.0  # that a browser has to go to another page
_STYLE: Final = Path(__file__).with_name("style.css")
_SCRIPT: Final = """<script>
document.addEventListener("keydown", (event) => {
  if (!event.altKey || !/^[1-9]$/.test(event.key)) return;
  const link = document.querySelector(`nav a[data-key="${event.key}"]`);
  if (link) { event.preventDefault(); link.click(); }
});
// The name of an editor is read from the part that is written in.
new MutationObserver(() => {
  const unnamed = ".nicegui-codemirror[aria-label] .cm-content:not([aria-label])";
  for (const content of document.querySelectorAll(unnamed)) {
    content.setAttribute("aria-label", content.closest("[aria-label]").ariaLabel);
  }
}).observe(document.documentElement, { childList: true, subtree: true });
</script>"""


@contextmanager
def framed(place: Place, pages: Sequence[Page], here: Page) -> Iterator[None]:
    """A page's own contents go inside."""
    ui.colors(primary=ACCENT)
    ui.add_css(_STYLE.read_text(encoding="utf-8"))
    ui.add_head_html(_SCRIPT)
    ui.page_title(f"{here.title} – Predicast")
    ui.dark_mode(place.is_dark)
    # On a narrow screen it would cover the page: there it is opened by its button.
    drawer = ui.left_drawer(value=False, bordered=True).props("width=216 show-if-above")
    drawer.classes("p-2 gap-1")
    with ui.header().classes("items-center py-1 px-3").style(f"background:{ACCENT}"):
        ui.button(icon="menu", on_click=drawer.toggle).props(
            'flat round dense color=white aria-label="Show or hide the pages"'
        )
        ui.link("Predicast", "/").classes("plain text-lg font-semibold text-white")
        ui.label(f"tenant {place.visitor.tenant}").classes("text-white text-sm opacity-90")
        ui.space()
        contrast = ui.button(icon="contrast").on("click", js_handler=_SWITCH)
        contrast.props('flat round dense color=white aria-label="Light or dark"')
        if place.can_sign_out:
            ui.link("Sign out", "/sign-out").classes("plain text-white text-sm")
    with drawer, ui.element("nav").props('aria-label="Pages"').classes("w-full"):
        for number, page in enumerate((each for each in pages if each.icon), 1):
            _entry(page, number, is_here=page is here)
        ui.label("Alt and a number opens a page").classes("quiet text-xs px-2 pt-3")
    main = ui.element("main").classes(
        "w-full max-w-screen-xl mx-auto px-2 pb-8 flex flex-col gap-4"
    )
    ui.skip_link("Skip to the contents", target=main)
    with main:
        ui.label(here.title).classes("text-2xl font-semibold").props("role=heading aria-level=1")
        yield


def _entry(page: Page, number: int, *, is_here: bool) -> None:
    link = ui.link(target=page.path).classes(
        "plain flex items-center gap-3 w-full px-2 py-2 rounded no-wrap"
    )
    link.props(f"data-key={number} aria-keyshortcuts=Alt+{number}")
    if is_here:
        link.classes("here").props("aria-current=page")
    with link:
        ui.icon(page.icon or "", size="sm").props("aria-hidden=true")
        ui.label(page.title)
        ui.space()
        ui.label(str(number)).classes("quiet text-xs")


def section(title: str) -> ui.label:
    """The heading of a part of a page."""
    return ui.label(title).classes("text-lg font-semibold").props("role=heading aria-level=2")


def nothing_yet(text: str, *, line: str | None = None, link: tuple[str, str] | None = None) -> None:
    """What an empty page says: why it is empty, and what to do next."""
    with ui.card().classes("w-full items-start gap-2"):
        ui.label(text)
        if line is not None:
            ui.label(line).classes("mono quiet")
        if link is not None:
            title, target = link
            ui.link(title, target).classes("text")


def end_with_token(place: Place) -> None:
    """End the page that is being built when its visitor is not let in any more."""
    client = ui.context.client

    def look() -> None:
        if place.asks() is None:
            timer.deactivate()
            client.open("/sign-in")
            _ = background_tasks.create(_deleted(client), name="console page without a token")

    timer = ui.timer(_LOOKED_S, look)


async def _deleted(client: Client) -> None:
    """The browser leaves by itself; one that does not is left with nothing."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LEAVING_S):
            await client.disconnected()
    if not client.is_deleted:
        client.delete()


def every(seconds: float, look: Callable[[], Awaitable[None] | None]) -> None:
    """Look again and again, until the broker or the visitor's token is gone: then say so."""

    async def guarded() -> None:
        try:
            looked = look()
            if looked is not None:
                await looked
        except (BackendError, NotAllowedError) as error:
            timer.deactivate()
            show_mistake(mistake_of(error))

    timer = ui.timer(seconds, guarded)


def show_mistake(mistake: Mistake) -> None:
    """An error, in the place where it was made."""
    with ui.row().classes("items-start gap-2 no-wrap").props("role=alert"):
        ui.icon("error_outline", size="sm").classes("bad")
        with ui.column().classes("gap-0"):
            where = f"{mistake.where}: " if mistake.where else ""
            ui.label(f"{where}{mistake.message}").classes("bad")
            if mistake.picture:
                ui.label(mistake.picture).classes("mono whitespace-pre")
            if mistake.hint:
                ui.label(mistake.hint).classes("quiet")


def tell(error: PredicastError) -> None:
    """An error of something that was done by a button, with no place of its own."""
    ui.notify(mistake_of(error).message, type="negative", multi_line=True)
