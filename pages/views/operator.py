"""For who runs the server: health, queue, use, roles, bans and the audit log."""

import math

import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.text import count, plain, seconds
from passnet_core.charts.downloads import csv_text
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.register import LONGEST_REASON

POLL_S = 2.0
SHOWN, KEPT = 200, 10_000
WHO, ROLE, BANNED, REASON = "operator-who", "operator-role", "operator-banned", "operator-reason"
ROLES = [PersonRole.MEMBER, PersonRole.TEACHER, PersonRole.OPERATOR]


@st.fragment(run_every=POLL_S)
def now() -> None:
    """Draw health, queue and use, again and again."""
    with frame.errors_shown():
        shared, operations = resources.shared(), resources.service().operations
        here, capacity = shared.device(), shared.capacity()
        health, load, pace, visitors = st.columns(4)
        health.metric(
            "Judge", "cannot judge" if here.problem else "ready", border=True, help=here.problem or here.label
        )
        load.metric("Waiting or being judged", shared.load(), border=True)
        pace.metric("Judged at once", capacity.judges, border=True)
        visitors.metric("Visitors, last hour", seconds(operations.visitors_used_s()), border=True)
        rows = [
            {
                "who": each.person.name,
                "role": each.person.role.value,
                "judged in the last hour": seconds(each.used_s),
                "of": _allowed(each.person),
                "waiting": each.load,
                "banned": each.person.banned,
                "id": each.person.id,
            }
            for each in operations.usage()
        ]
        st.dataframe(rows, hide_index=True, width="stretch", placeholder="–")
        if not rows:
            st.caption("Nothing was judged for anybody in the last hour.")


def _allowed(person: Person) -> str:
    allowed = person.allowance.device_s
    return seconds(allowed) if math.isfinite(allowed) else "no limit"


def roles() -> None:
    st.header("People")
    people = [each for each in resources.service().operations.people() if each.role is not PersonRole.VISITOR]
    with st.form("role", border=False):
        who, role, button = st.columns([3, 2, 1], vertical_alignment="bottom")
        labels = {each.id: f"{each.name} ({each.id[:8]})" for each in people}
        who.selectbox("Person", list(labels), format_func=lambda person_id: labels.get(person_id, person_id), key=WHO)
        role.selectbox("Role", [each.value for each in ROLES], key=ROLE)
        button.form_submit_button("Give", on_click=give_role)
    st.dataframe(
        [
            {
                "name": each.name,
                "id": each.id[:8],
                "role": each.role.value,
                "since": each.created_at[:10],
                "banned": each.banned,
            }
            for each in people
        ],
        hide_index=True, width="stretch", placeholder="–",
    )  # fmt: skip


@frame.action
def give_role() -> None:
    operations = resources.service().operations
    person = next(each for each in operations.people() if each.id == st.session_state[WHO])
    operations.set_role(person, PersonRole(st.session_state[ROLE]))


def bans() -> None:
    st.header("Bans")
    st.caption("Nothing more is judged for who is banned, and no page is shown. Their runs stay.")
    with st.form("ban", border=False):
        who, reason, button, lift = st.columns([2, 3, 1, 1], vertical_alignment="bottom")
        who.text_input("Name or id", key=BANNED, max_chars=80)
        reason.text_input("What they are told", key=REASON, max_chars=LONGEST_REASON)
        button.form_submit_button("Ban", on_click=ban)
        lift.form_submit_button("Lift", on_click=lift_ban)
    for each in resources.service().operations.people():
        if each.banned:
            st.markdown(f":material/block: {plain(each.name)}: {plain(each.banned)}")


@frame.action
def ban() -> None:
    named, reason = _typed()
    resources.service().operations.ban(named, reason or "Banned by the operator")


@frame.action
def lift_ban() -> None:
    resources.service().operations.ban(_typed()[0], "")


def _typed() -> tuple[str, str]:
    return str(st.session_state[BANNED]).strip(), str(st.session_state[REASON]).strip()


def log() -> None:
    st.header("Audit log")
    operations = resources.service().operations
    names = {each.id: each.name for each in operations.people()}
    entries = operations.log(KEPT)
    rows = [
        {"at, UTC": each.at, "who": names.get(each.person_id, each.person_id), "what": each.deed, "about": each.about}
        for each in entries
    ]
    st.dataframe(rows[:SHOWN], hide_index=True, width="stretch", placeholder="–")
    st.download_button(
        "Download as CSV", lambda: csv_text(rows), file_name="audit-log.csv", mime="text/csv",
        icon=":material/download:", on_click="ignore", help=f"The newest {count(len(rows), 'entry', 'entries')}.",
    )  # fmt: skip


st.title("Operator")
now()
links.link("runs", "All runs", icon=":material/history:")
roles()
bans()
log()
