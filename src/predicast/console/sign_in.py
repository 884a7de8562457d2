"""Signing in and out: plain forms, which work before anything else does."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import parse_qs

from fastapi import Body, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from predicast.console.mounting import COOKIE, VisitorOf
from predicast.console.visitors import SignedIn

_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in – Predicast</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
  body { font: 16px system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; }
  form { display: grid; gap: 0.8rem; width: min(24rem, 90vw); }
  input, button { font: inherit; padding: 0.6rem; border-radius: 6px; border: 1px solid #889; }
  button { background: #0d7d72; color: white; border: 0; }
  p { margin: 0; } .bad { color: light-dark(#b3261e, #ff8a80); }
</style></head>
<body><form method="post" action="/sign-in"><h1>Predicast</h1>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
__SAID__<button>Sign in</button></form></body></html>"""
_HELP: Final = "<p>Whoever runs the broker makes one: <code>predicast token add</code>.</p>"
_UNKNOWN: Final = '<p class="bad" role="alert">The broker does not know this token.</p>'
_LONGEST: Final = 4096  # characters of a token; a longer one is none


def add_sign_in(app: FastAPI, signed_in: SignedIn, visitor_of: VisitorOf) -> None:
    """Add the two routes."""

    async def form() -> Response:
        return HTMLResponse(_PAGE.replace("__SAID__", _HELP))

    async def sign_in(
        request: Request, body: Annotated[bytes, Body(media_type="text/plain")]
    ) -> Response:
        token = _token(body)
        if visitor_of(token) is None:
            return HTMLResponse(_PAGE.replace("__SAID__", _UNKNOWN), status_code=403)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            COOKIE,
            signed_in.add(token),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def sign_out(request: Request) -> Response:
        signed_in.remove(request.cookies.get(COOKIE))
        answer = RedirectResponse("/sign-in", status_code=303)
        answer.delete_cookie(COOKIE)
        return answer

    app.add_api_route("/sign-in", form, methods=["GET"], include_in_schema=False)
    app.add_api_route("/sign-in", sign_in, methods=["POST"], include_in_schema=False)
    app.add_api_route("/sign-out", sign_out, methods=["GET"], include_in_schema=False)


def _token(body: bytes) -> str:
    """The token of a form as browsers send it; nothing, if it has none."""
    if len(body) > _LONGEST:
        return ""
    fields = parse_qs(body.decode("ascii", errors="replace"), max_num_fields=4)
    return fields.get("token", [""])[0].strip()
