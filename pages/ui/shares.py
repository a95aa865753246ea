"""Letting others see: what is one's own, where the app serves others; and cards of runs, and runs in other pages."""

import functools
import html
from collections.abc import Callable
from urllib.parse import urlencode, urljoin

import streamlit as st

from pages.ui import frame, resources
from pages.ui.results import MATCH, TAB
from passnet_core.charts.downloads import KINDS
from passnet_core.reports.previews import run_preview


def sharing_toggle(name: str, *, shared: bool, share: Callable[[str, bool], None]) -> None:
    """Draw the switch that shares a run or a conversation by its link. share: does it, given its id and whether."""
    key = f"shared-{name}"

    @frame.action
    def switch() -> None:
        share(name, bool(st.session_state[key]))

    st.toggle(
        "Shared by its link", shared, key=key, on_change=switch,
        help="Everybody who has the link sees this. Otherwise only you do, and who runs this playground.",
    )  # fmt: skip


def cards(run_id: str, title: str) -> None:
    """Draw what puts a run elsewhere: its card as a picture, and its page within another one."""
    with st.popover("Share", icon=":material/share:"):
        with st.container(horizontal=True):
            for kind, mime in KINDS.items():
                st.download_button(
                    f"Card ({kind.upper()})",
                    functools.partial(_card, run_id, kind),
                    file_name=f"{run_id}.{kind}",
                    mime=mime,
                    icon=":material/image:",
                    on_click="ignore",
                )
        st.caption("Graph and verdict in another page:")
        address = urljoin(st.context.url or "", f"runs?{urlencode({'run': run_id, TAB: MATCH, 'embed': 'true'})}")
        named = f'src="{html.escape(address)}" title="{html.escape(title)}"'
        st.code(f'<iframe {named} width="100%" height="720"></iframe>', language="html", wrap_lines=True)


def _card(run_id: str, kind: str) -> bytes:
    return run_preview(resources.service(), run_id).picture(kind)
