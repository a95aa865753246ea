"""Links that hold all that a page shows: what is selected, and the passes by their digest or packed into the link."""

from urllib.parse import urlencode

from pages.ui import drafting, frame, links, resources
from pages.ui.copying import copy_button
from pages.ui.drafting import EditorDraft
from pages.ui.places import place_of
from passnet_core.bundles.packing import packed, unpacked
from passnet_core.records import Bundle, Task

PACKED = "code"
"""The URL parameter that holds a packed bundle."""
LONGEST = 6_000
"""Longer packed bundles are stored, and linked by digest: browsers, proxies and chats cut longer links."""


def copy_link(task: Task, draft: EditorDraft, run_id: str | None) -> None:
    """Draw a button that copies a link to this view of a task with the very passes in the editor. run_id: a run of
    these passes."""
    bundle = draft.bundle
    page, place = place_of(task.id)
    chosen = {key: links.selected(key) for key in ("subgraph", "tab")} | {**place, "run": run_id}
    if bundle.digest == drafting.original(task, draft.slot.name).digest:
        root = draft.slot.root.name
        chosen["bundle"] = None if root == drafting.MINE else root
    elif resources.bundle(bundle.digest):
        chosen["bundle"] = bundle.digest
    elif len(text := packed(bundle)) <= LONGEST:
        chosen[PACKED] = text
    else:
        chosen = {}
    named = {key: value for key, value in chosen.items() if value}
    copy_button("link-of-passes", f"{page}?{urlencode(named)}" if named else None, lambda: store(bundle))


@frame.action
def store(bundle: Bundle) -> None:
    resources.service().add_bundle(bundle)


def open_packed(task: Task) -> None:
    """Store the passes that the URL carries, and open them in a slot of their own. Raises BadInput."""
    text = links.selected(PACKED)
    if text is None:
        return
    links.select(PACKED, None)
    bundle = unpacked(text)
    resources.service().add_bundle(bundle)
    drafting.open_stored(task, bundle.digest)
