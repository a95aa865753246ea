"""How much memory uploaded files take. Streamlit holds each file until its page is closed, and limits only its size."""

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from passnet_core.server.at_once import AtOnce

OF_PAGE_BYTES, OF_ALL_BYTES = 32 << 20, 256 << 20
"""The most bytes of files that one page, and all pages together, may have uploaded."""
UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")


class UploadLimits:
    """An ASGI middleware that refuses a file for which there is no room, and keeps nothing of it.

    largest_bytes: of a file. A file that is on its way counts as if it had this size."""

    def __init__(self, app: ASGIApp, largest_bytes: int) -> None:
        self._app, self._largest = app, largest_bytes
        self._coming = AtOnce()
        """How many files are on their way, by the page that uploads them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if upload is None:
            await self._app(scope, receive, send)
            return
        page = upload[1]
        if refusal := self._refusal(page):
            await self._skip(receive)
            await PlainTextResponse(refusal, 413, {"Connection": "close"})(scope, receive, send)
            return
        with self._coming.one_more(page):
            await self._app(scope, receive, send)

    async def _skip(self, receive: Receive) -> None:
        """Let a file pass by, as a browser hears no answer while it sends."""
        passed = 0
        while passed <= 2 * self._largest and (message := await receive()).get("more_body", False):
            passed += len(message["body"])

    def _refusal(self, page: str) -> str:
        held = _held_bytes()
        if held.get(page, 0) + (1 + self._coming[page]) * self._largest > OF_PAGE_BYTES:
            return "Too many files were uploaded on this page. Open it again."
        if sum(held.values()) + (1 + self._coming.total()) * self._largest > OF_ALL_BYTES:
            return "Too many files are being uploaded here. Try again in a few minutes."
        return ""


def _held_bytes() -> dict[str, int]:
    """How many bytes the files of each page take that were uploaded."""
    manager = get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager), "only files in memory are counted"
    # copies, as pages are closed in other threads
    pages = manager.file_storage.copy()
    return {page: sum(len(file.data) for file in files.copy().values()) for page, files in pages.items()}
