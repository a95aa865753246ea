"""A certificate of the course: what its holder has passed, and the same passes judged again by whoever looks at it."""

import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.text import count, plain, when
from passnet_core.errors import PlaygroundError
from passnet_core.lessons.grading import graded
from passnet_core.service import Certificate

POLL_S = 1.0


def certificate_page(certificate_id: str) -> None:
    certificate = resources.shared().certificate(certificate_id)
    st.title(f"Certificate of {plain(certificate.holder)}")
    st.markdown(
        f"{plain(certificate.holder)} has passed {count(len(certificate.lessons), 'lesson')} of the course with the"
        " passes below. The judge has found each of them right, on inputs and variants that the lessons keep back."
    )
    st.caption(
        "The name is the holder's own words. All else is told from the runs, and can be judged again by anybody."
    )
    st.button(
        "Have it judged again",
        icon=":material/gavel:",
        type="primary",
        on_click=judge_again,
        args=(certificate,),
        help="Judges these very passes afresh, with new inputs, on this machine.",
    )
    runs = st.session_state.get(_key(certificate), {})
    if _finished(runs):
        table(certificate, _now(runs))
    else:
        again(certificate, runs)
    with st.expander("The runs", icon=":material/history:"):
        for each in filter(lambda passed: resources.service().sees(passed.run_id), certificate.lessons):
            links.link("runs", f"{plain(each.title)}: run {each.run_id}", icon=":material/history:", run=each.run_id)


def table(certificate: Certificate, found: dict[str, str]) -> None:
    """Draw the passed lessons. found: by lesson, what the judge says now."""
    rows = [
        {
            "lesson": each.title,
            "verdicts": ", ".join(dict.fromkeys(verdict.value for verdict in each.verdicts)),
            "judged": when(each.finished_at),
            "passes": each.bundle_digest,
            "judge": each.judge_digest[:8],
        }
        | ({"judged again": found.get(each.lesson_id, "")} if found else {})
        for each in certificate.lessons
    ]
    st.dataframe(rows, hide_index=True, width="stretch", height="content")


@frame.action
def judge_again(certificate: Certificate) -> None:
    st.session_state[_key(certificate)] = resources.service().judge_certificate(certificate.id)


@st.fragment(run_every=POLL_S)
def again(certificate: Certificate, runs: dict[str, str]) -> None:
    """Draw the passed lessons with what the judge says of them now, until it has judged all."""
    if _finished(runs):
        st.rerun()
    table(certificate, _now(runs))


def _finished(runs: dict[str, str]) -> bool:
    return all(resources.service().progress(each).finished for each in runs.values())


def _now(runs: dict[str, str]) -> dict[str, str]:
    return {lesson_id: _said(lesson_id, run_id) for lesson_id, run_id in runs.items()}


def _said(lesson_id: str, run_id: str) -> str:
    try:
        progress = resources.service().progress(run_id)
        if not progress.finished:
            return "being judged…" if progress.done else "waiting…"
        grade = graded(resources.shared().course.lesson(lesson_id), progress.outcomes)
    except PlaygroundError as error:
        return str(error)
    if grade.ungraded:
        return f"not graded: {grade.ungraded}"
    return "all stars again" if grade.passed else f"lacks {', '.join(grade.missing)}"


def _key(certificate: Certificate) -> str:
    return f"judged again {certificate.id}"
