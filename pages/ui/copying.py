"""The button that copies a link. It knows the address under which the browser sees the app."""

from collections.abc import Callable

from pages.ui.built import component


def copy_button(
    key: str, link: str | None = "", on_wanted: Callable[[], None] = lambda: None, *, small: bool = False
) -> None:
    """Draw the button. link: relative to the app; empty for the address of the page as it is; None if it has to be
    made first: on_wanted is called, and the link of the next rerun is copied."""
    component("copy")(
        key=key,
        width="content",
        data={"label": "Copy link", "help": "Copies a link to what this page shows", "link": link, "small": small},
        on_wanted_change=on_wanted,
    )
