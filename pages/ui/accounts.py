"""Who is there, where the app serves others: signing in and out, and how much may be judged."""

import math
from collections.abc import Sequence

import streamlit as st

from pages.ui import links, resources, visitors
from pages.ui.text import plain, seconds
from passnet_core.people.person import PersonRole


def corner() -> None:
    """Draw who is there, with the ways to sign in and out."""
    access = resources.service()
    if access.person is None:
        return
    signed_in = visitors.identity() is not None
    name = access.person.name if signed_in else "Visitor"
    with st.popover(
        plain(name), icon=":material/account_circle:", width="content", key="account-corner", type="tertiary"
    ):
        st.markdown(f"**{plain(name)}** · {access.role.value}")
        st.caption(use_words())
        links.link("account", "Account and tokens" if signed_in else "What visitors may do", icon=":material/tune:")
        if access.role is PersonRole.OPERATOR:
            links.link("operator", "Operator", icon=":material/admin_panel_settings:")
        if signed_in:
            st.button("Sign out", icon=":material/logout:", key="sign-out", on_click=st.logout)
        else:
            sign_in("corner")


def sign_in(where: str) -> None:
    """Draw a button for each provider with which one can sign in, or say that there is none."""
    found = providers()
    if not found:
        st.caption("Nobody can sign in here: no provider is set up.")
    for name in found:
        label = f"Sign in with {plain(name.capitalize())}" if name else "Sign in"
        st.button(
            label, icon=":material/login:", key=f"sign-in-{where}-{name}", type="primary", on_click=st.login,
            args=(name,) if name else (),
        )  # fmt: skip


def providers() -> Sequence[str]:
    """Return the names of the OpenID providers that the secrets name; "" for one without a name."""
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return ()
    told = st.secrets["auth"]
    named = [name for name, each in told.items() if hasattr(each, "keys") and "client_id" in each]
    return [*([""] if "client_id" in told else []), *named]


def use_words() -> str:
    """Say how much was judged for who is there in the last hour, of how much."""
    access = resources.service()
    if access.person is None or not math.isfinite(access.person.allowance.device_s):
        return f"{seconds(access.used_s())} of judging in the last hour"
    return f"{seconds(access.used_s())} of {seconds(access.person.allowance.device_s)} of judging in the last hour"
