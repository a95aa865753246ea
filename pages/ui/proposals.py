"""Bundles that somebody else wrote for the person at the editor: what they would change, and how they are taken."""

import streamlit as st

from pages.ui import drafting, frame, links, resources
from pages.ui.components import long_code
from pages.ui.drafting import EditorDraft
from pages.ui.text import codes, difference
from passnet_core.records import Bundle, Task


def proposal(task: Task, draft: EditorDraft, bundle: Bundle, *, closes: bool = False) -> None:
    """Offer a bundle, as a diff with the editor. It opens in a slot of its own and overwrites nothing.

    closes: whether opening it closes the drawer."""
    current, proposed = codes(draft.bundle), codes(bundle)
    if current == proposed:
        st.caption("The editor already shows this bundle.")
        return
    st.caption("What would change in the editor. The bundle opens beside your passes, which stay as they are.")
    long_code(difference(current, proposed), language="diff", height=360)
    st.button(
        "Open it in the editor",
        key=f"take-{bundle.digest}",
        icon=":material/edit:",
        on_click=take,
        args=(task, bundle, closes),
    )


@frame.action
def take(task: Task, bundle: Bundle, closes: bool) -> None:
    resources.service().add_bundle(bundle)
    drafting.open_stored(task, bundle.digest)
    if closes:
        links.select("talk", None)
