"""What somebody has here: how much may be judged, tokens for programs, and what was done in their name."""

from urllib.parse import urlsplit

import streamlit as st

from pages.ui import accounts, frame, resources
from pages.ui.text import count, plain, when
from passnet_core.people.person import PersonRole
from passnet_core.people.register import LONGEST_LIFE_DAYS

LABEL, DAYS, MADE = "token-label", "token-days", "token-made"
DEEDS = 50


def allowed() -> None:
    access = resources.service()
    person = access.person
    if person is None:
        return
    st.markdown(
        f"You are a **{access.role.value}**. {plain(accounts.use_words())}; at most"
        f" {count(person.allowance.jobs, 'subgraph')} may wait to be judged for you. Passes are judged"
        f" {'on the GPU where there is one' if access.may_use_gpu else 'on the CPU only, by their values'}."
    )
    st.caption(
        "Your drafts, runs and conversations are seen by you and by who runs this server, unless you share them by"
        " their link."
    )


def tokens() -> None:
    st.header("Tokens for programs and agents")
    account = resources.service().account
    site = urlsplit(st.context.url or "")
    place = f"{site.scheme}://{site.netloc}"
    st.markdown(f"Programs find their interface at `{place}/api`, coding agents theirs at `{place}/mcp`.")
    made = st.session_state.pop(MADE, None)
    if made:
        st.success("Copy this token now: it is shown once, and kept nowhere.", icon=":material/key:")
        st.code(made, language=None)
    with st.form("new-token", border=False):
        name, days = st.columns([2, 1])
        name.text_input("What it is for", key=LABEL, max_chars=80, placeholder="my agent")
        days.number_input("Days until it expires", 1, LONGEST_LIFE_DAYS, 90, key=DAYS)
        st.form_submit_button("Make a token", icon=":material/add:", on_click=issue)
    for each in account.tokens():
        words, button = st.columns([4, 1], vertical_alignment="center")
        used = f"last used {when(each.used_at)}" if each.used_at else "never used"
        words.markdown(f"{plain(each.label or 'no label')} · {each.id} · until {each.expires_at[:10]} · {used}")
        button.button("Revoke", key=f"revoke-{each.id}", icon=":material/block:", on_click=revoke, args=(each.id,))


@frame.action
def issue() -> None:
    account = resources.service().account
    st.session_state[MADE] = account.issue(str(st.session_state[LABEL]).strip(), int(st.session_state[DAYS]))


@frame.action
def revoke(token_id: str) -> None:
    resources.service().account.revoke(token_id)


def deeds() -> None:
    with st.expander("What was done in your name", icon=":material/history:"):
        rows = [
            {"at, UTC": each.at, "what": each.deed, "about": each.about}
            for each in resources.service().account.deeds(DEEDS)
        ]
        st.dataframe(rows, hide_index=True, width="stretch", placeholder="–")


st.title("Account")
allowed()
if resources.service().role is PersonRole.VISITOR:
    st.info("You have not signed in. What you write and run belongs to this browser.", icon=":material/person:")
    accounts.sign_in("page")
elif resources.service().person is not None:
    tokens()
    deeds()
