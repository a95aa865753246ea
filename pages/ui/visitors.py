"""Whose page this is: that of a signed-in person, or of a browser, which a cookie tells from others.

Drafts and runs belong to the visitor. Anybody who knew a visitor's cookie could read them, so the store only has its
digest."""

import re
import secrets

import streamlit as st

from pages.ui import resources
from passnet_core.records import digest_of

COOKIE = "passnet_browser"
KEPT_S = 365 * 24 * 3600
SECRET = re.compile(r"[0-9a-f]{32}")
REMEMBERED = """<script>
(() => {
  const found = document.cookie.split("; ").find((each) => each.startsWith("%(name)s="));
  const secure = location.protocol === "https:" ? "; secure" : "";
  if (!found) {
    document.cookie = "%(name)s=%(secret)s; path=/; max-age=%(seconds)d; samesite=lax" + secure;
  } else if (found !== "%(name)s=%(secret)s" && !sessionStorage.getItem("%(name)s")) {
    // another tab of this browser was first: be the same visitor, and try that once
    sessionStorage.setItem("%(name)s", "asked");
    location.reload();
  }
})();
</script>"""


def visitor() -> str:
    """Return whose page this is, as the store names owners of drafts and runs."""
    person = _person()
    return digest_of(f"person {person}" if person else f"browser {_secret()}")[:32]


def welcome() -> None:
    """Let the browser remember who it is, if it does not know yet. Call it once in every rerun."""
    if _person() or _cookie() == _secret():
        return
    st.html(REMEMBERED % {"name": COOKIE, "secret": _secret(), "seconds": KEPT_S}, unsafe_allow_javascript=True)


def adopt() -> None:
    """Take over drafts of a store from before drafts belonged to somebody: they were everybody's."""
    if "adopted" not in st.session_state:
        st.session_state["adopted"] = True
        resources.service().adopt_drafts(visitor())


def _person() -> str:
    """The address or the name of who has signed in, or an empty string."""
    if not getattr(st.user, "is_logged_in", False):
        return ""
    return str(st.user.get("email") or st.user.get("sub") or "")


def _secret() -> str:
    """The browser's cookie, or what will be it."""
    return str(st.session_state.setdefault("browser", _cookie() or secrets.token_hex(16)))


def _cookie() -> str:
    """The cookie that came with the page; an empty string if there was none, or something else in its place."""
    found = st.context.cookies.get(COOKIE)
    return found if isinstance(found, str) and SECRET.fullmatch(found) else ""
