"""Whose page this is: that of a signed-in person, or of a browser, which a cookie tells from others.

Drafts and runs belong to the visitor. Anybody who knew a visitor's cookie could read them, so the store only has its
digest."""

import functools
import re
import secrets

import streamlit as st

from passnet_core.access.hosting import Identity
from passnet_core.records import digest_of

COOKIE = "passnet_browser"
KEPT_S = 365 * 24 * 3600
SECRET = re.compile(r"[0-9a-f]{32}")
REMEMBERED = """
(() => {
  const { name, secret, seconds } = document.getElementById("passnet-browser").dataset;
  const found = document.cookie.split("; ").find((each) => each.startsWith(`${name}=`));
  const secure = location.protocol === "https:" ? "; secure" : "";
  if (!found) {
    document.cookie = `${name}=${secret}; path=/; max-age=${seconds}; samesite=lax${secure}`;
  } else if (found !== `${name}=${secret}` && !sessionStorage.getItem(name)) {
    // another tab of this browser was first: be the same visitor, and try that once
    sessionStorage.setItem(name, "asked");
    location.reload();
  }
})();
"""
"""The script that keeps the cookie. It is the same for everybody, so that the page's policy can allow it alone."""
TOLD = '<span hidden id="passnet-browser" data-name="%s" data-secret="%s" data-seconds="%d"></span>'


def visitor() -> str:
    """Return the id of this browser, as the store names owners of drafts and runs."""
    return digest_of(f"browser {_secret()}")[:32]


def identity() -> Identity | None:
    """Return who has signed in, as the provider of the sign-in says; None for nobody."""
    if not signs_in():
        return None
    if not getattr(st.user, "is_logged_in", False):
        return None
    told = {name: str(st.user.get(name) or "") for name in ("iss", "sub", "name", "preferred_username", "email")}
    name = told["name"] or told["preferred_username"] or told["email"].partition("@")[0]
    return Identity(told["iss"], told["sub"], name) if told["sub"] else None


@functools.cache
def signs_in() -> bool:
    """Return whether anybody can sign in, as the secrets say, which are read once: Streamlit looks for a missing file
    of secrets again each time that it is asked who is there."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def welcome() -> None:
    """Let the browser remember who it is, if it does not know yet. Call it once in every rerun."""
    if identity() is not None or _cookie() == _secret():
        return
    told = TOLD % (COOKIE, _secret(), KEPT_S)
    st.html(f"{told}<script>{REMEMBERED}</script>", unsafe_allow_javascript=True)


def _secret() -> str:
    """The browser's cookie, or what will be it."""
    if "browser" not in st.session_state:
        st.session_state["browser"] = _cookie() or secrets.token_hex(16)
    return str(st.session_state["browser"])


def _cookie() -> str:
    """The cookie that came with the page; an empty string if there was none, or something else in its place."""
    found = st.context.cookies.get(COOKIE)
    return found if isinstance(found, str) and SECRET.fullmatch(found) else ""
