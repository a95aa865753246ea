"""The head of each page as a server sends it: a title and a preview for those who only read the link, and the app's
address for Streamlit's script, which otherwise asks for it below the page's own address first."""

import html
import re
from collections.abc import Iterable
from pathlib import Path

import streamlit
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pages.ui import resources
from pages.ui.frame import APP
from pages.ui.links import Name
from passnet_core.errors import PlaygroundError
from passnet_core.reports.previews import Preview, run_preview

ABOUT = "Learn, write and judge compiler passes for real subgraphs."
INDEX = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
INLINE = re.compile("<script>(.*?)</script>", re.DOTALL)
ROOT = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL("./", location.href).href };</script>'
SCRIPTS = tuple(INLINE.findall(ROOT + INDEX))
"""The scripts within every page."""
FRESH = {"Cache-Control": "no-cache"}


def routes(pages: Iterable[tuple[Name, str]], base: str = "") -> list[Route]:
    """Return the routes of pages, by their paths and titles, and of the pictures of runs. base: the path of the app."""
    prefix = f"/{base.strip('/')}".rstrip("/")

    def of(name: Name, title: str) -> Route:
        async def page(request: Request) -> Response:
            run_id = request.query_params.get("run", "")
            found = await run_in_threadpool(_preview, run_id) if run_id else None
            return HTMLResponse(_index(request, title, run_id, found), headers=FRESH)

        return Route(f"{prefix}/{name}", page)

    found = [of(name, title) for name, title in pages]
    return [*found, Route(f"{prefix}/preview/{{run_id}}.png", _picture, name="preview")]


async def _picture(request: Request) -> Response:
    found = await run_in_threadpool(_preview, request.path_params["run_id"])
    if found is None:
        return Response("There is no such run.", 404)
    return Response(await run_in_threadpool(found.picture, "png"), media_type="image/png", headers=FRESH)


def _preview(run_id: str) -> Preview | None:
    try:
        return run_preview(resources.host().access("", None), run_id)
    except PlaygroundError:
        return None


def _index(request: Request, title: str, run_id: str, found: Preview | None) -> str:
    """Return Streamlit's page with this head."""
    subject = found.title if found else request.query_params.get("task", "")
    said = {
        "og:site_name": APP,
        "og:title": " · ".join(filter(None, (subject, title, APP))),
        "og:description": " · ".join(found.lines) if found else ABOUT,
        "og:type": "website",
    }
    if found:
        said |= {"og:image": str(request.url_for("preview", run_id=run_id)), "twitter:card": "summary_large_image"}
    tags = "".join(
        f'<meta property="{name}" content="{html.escape(value, quote=True)}">' for name, value in said.items()
    )
    return INDEX.replace("<head>", f"<head>{tags}{ROOT}", 1)
