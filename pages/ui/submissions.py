"""Submissions below the leaderboard: what was handed in, the evidence on it, and handing in."""

import streamlit as st

from pages.ui import frame, links, resources, uploads
from pages.ui.tables import choose_row
from pages.ui.text import count, key_of, plain, when
from passnet_core.errors import BadInput
from passnet_core.leaderboard.entering import read_run_file
from passnet_core.leaderboard.submissions import (
    LONGEST_REMARK,
    LONGEST_SHOWN_NAME,
    LONGEST_TITLE,
    BoardEntry,
    SubmissionState,
)

POLL_S = 2.0
SELECTED = "submission"
FIELDS = ("title", "name", "task", "note", "link", "file")
TITLE, NAME, TASK, NOTE, LINK, FILE = (f"submission-{each}" for each in FIELDS)
LISTED = 12
"""Of a submission for more tasks than this, one task at a time is shown."""
FIGURES = ("aggregate score", "95% from", "to", "geometric mean")


def submissions_section() -> None:
    """Show the submissions that this person sees, the chosen one with its evidence, and how to hand one in."""
    submissions = resources.service().submissions
    st.subheader("Submissions", anchor="submissions")
    st.caption(
        "Passes that people have handed in. The judge of this server has judged each bundle again from its source, with"
        " inputs that it drew only then; what the submitter measured counts for nothing. The newest version of each is"
        " one solver on the boards of its subgraphs."
    )
    entries = submissions.all()
    chosen = links.selected(SELECTED)
    if entries:
        choose_row(
            [_row(each) for each in entries],
            [each.submission.id for each in entries],
            key="submissions",
            choose=choose,
            chosen=chosen,
            column_config={each: st.column_config.NumberColumn(each, format="%.3f") for each in FIGURES},
        )
    else:
        st.caption("There is none yet.")
    if waiting := [each.submission.id for each in entries if each.being_judged]:
        watch(waiting)
    if chosen:
        with frame.errors_shown():
            details(submissions.entry(chosen))
    if submissions.may_submit:
        with st.expander("Submit passes", icon=":material/upload:"):
            form()
    else:
        st.caption("Sign in to submit passes of your own.")


@frame.action
def choose(submission_id: str) -> None:
    links.select(SELECTED, submission_id)


def _row(entry: BoardEntry) -> dict[str, object]:
    judgement = entry.judgement
    score = judgement.score if judgement else None
    mean = judgement.geometric_mean if judgement else None
    return {
        "title": entry.submission.title,
        "version": entry.submission.version,
        "by": entry.submission.shown,
        "state": entry.state.value,
        "accepted": f"{judgement.accepted} of {judgement.total}" if judgement else None,
        "aggregate score": score[0] if score else None,
        "95% from": score[1] if score else None,
        "to": score[2] if score else None,
        "geometric mean": mean[0] if mean else None,
        "submitted": entry.submission.submitted_at[:10],
        "judge": judgement.judge_digest[:8] if judgement else None,
        "reason": entry.reason,
    }


@st.fragment(run_every=POLL_S)
def watch(waiting: list[str]) -> None:
    """Say how many submissions are being judged, and draw the page again once one has been."""
    submissions = resources.service().submissions
    left = [each for each in submissions.all() if each.submission.id in waiting and each.being_judged]
    if len(left) < len(waiting):
        st.rerun()
    st.caption(f"{count(len(left), 'submission')} being judged…")


def details(entry: BoardEntry) -> None:
    """Draw what is known of a submission, with links to its runs and passes, and what this person may do with it."""
    submission, judgement = entry.submission, entry.judgement
    with st.container(border=True):
        st.markdown(f"**{plain(submission.label)}**: {plain(entry.state.value)}")
        if submission.note:
            st.markdown(plain(submission.note))
        if entry.retraction is not None:
            st.warning(
                f"Taken back by {plain(entry.retraction.by)} on {plain(when(entry.retraction.at))}:"
                f" {plain(entry.reason)}",
                icon=":material/undo:",
            )
        elif entry.reason:
            st.info(plain(entry.reason), icon=":material/gavel:")
        pieces = [f"submission {submission.id}", f"handed in {when(submission.submitted_at)}"]
        if judgement is not None:
            pieces += [f"judged {when(judgement.finished_at)}", judgement.device, f"judge {judgement.judge_digest}"]
        st.caption(plain(" · ".join(filter(None, pieces))))
        evidence(entry)
        deeds(entry)


def evidence(entry: BoardEntry) -> None:
    """Draw links to the runs and the passes, by task."""
    runs, bundles = dict(entry.round.runs), entry.submission.bundles
    if len(bundles) > LISTED:
        picked = st.selectbox("Task", [task_id for task_id, _ in bundles], key=_key("task", entry))
        bundles = tuple(each for each in bundles if each[0] == picked)
    for task_id, digest in bundles:
        run_id = runs.get(task_id, "")
        with st.container(horizontal=True, vertical_alignment="center"):
            if run_id and resources.service().sees(run_id):
                links.link("runs", f"{plain(task_id)}: run {run_id}", icon=":material/history:", run=run_id)
            links.link(
                "workbench", f"Passes for {plain(task_id)}", icon=":material/construction:", task=task_id, bundle=digest
            )


def deeds(entry: BoardEntry) -> None:
    """Draw what this person may do with a submission."""
    submissions, submission_id = resources.service().submissions, entry.submission.id
    own, standing = submissions.is_own(entry), entry.state is not SubmissionState.TAKEN_BACK
    with st.container(horizontal=True):
        if own:
            with st.popover("Name", icon=":material/badge:", key=_key("name-of", entry)):
                st.text_input(
                    "Shown as (empty: anonymous)", entry.submission.name, key=_key("name", entry),
                    max_chars=LONGEST_SHOWN_NAME, on_change=rename, args=(entry,),
                    help="For all versions of this submission.",
                )  # fmt: skip
        if submissions.may_judge_again(entry):
            st.button(
                "Judge again", icon=":material/gavel:", key=_key("again", entry), on_click=judge_again,
                args=(submission_id,),
            )  # fmt: skip
        if standing and (own or submissions.rules_all):
            label = "Withdraw" if own else "Take back"
            with st.popover(label, icon=":material/undo:", key=_key("back", entry)):
                st.caption("For good. It stays listed with its reason, and is not ranked any more.")
                st.text_input("Reason, which everybody reads", key=_key("reason", entry), max_chars=LONGEST_REMARK)
                st.button(f"{label} it", key=_key("sure", entry), on_click=take_back, args=(entry, own))


@frame.action
def rename(entry: BoardEntry) -> None:
    resources.service().submissions.rename(entry.submission.id, str(st.session_state[_key("name", entry)]))


@frame.action
def judge_again(submission_id: str) -> None:
    resources.service().submissions.judge_again(submission_id)


@frame.action
def take_back(entry: BoardEntry, own: bool) -> None:
    submissions, reason = resources.service().submissions, str(st.session_state[_key("reason", entry)])
    (submissions.withdraw if own else submissions.take_back)(entry.submission.id, reason)


def form() -> None:
    """Draw the form with which passes are handed in."""
    with st.form("submission", border=False):
        left, right = st.columns(2)
        left.text_input("Title", key=TITLE, max_chars=LONGEST_TITLE, help="The same title again makes a new version.")
        right.text_input(
            "Shown as (empty: anonymous)", key=NAME, max_chars=LONGEST_SHOWN_NAME, help="You can change this later."
        )
        left.text_input("Link to the Workbench", key=LINK, help="As *Copy link* gives it, or the text of its code.")
        right.text_input("Task", key=TASK, help="Only where the link does not name it.")
        st.file_uploader(
            "Or a run file (JSONL)", type=["jsonl"], key=FILE, help="Its passes are taken, and none of its verdicts."
        )
        st.text_input("Note", key=NOTE, max_chars=LONGEST_REMARK)
        st.caption("Everybody can read passes that are on the board, also after they were withdrawn.")
        st.form_submit_button("Submit", icon=":material/gavel:", on_click=hand_in)


@frame.action
def hand_in() -> None:
    submissions = resources.service().submissions
    title, name, task, note, link = (str(st.session_state[each]).strip() for each in (TITLE, NAME, TASK, NOTE, LINK))
    text = uploads.text_of(FILE)
    if (text is not None) == bool(link):
        raise BadInput("Paste a link, or choose a run file: one of them.")
    bundles = submissions.from_link(link, task) if text is None else read_run_file(text)
    links.select(SELECTED, submissions.submit(bundles, title, name=name, note=note).submission.id)


def _key(what: str, entry: BoardEntry) -> str:
    return key_of(f"submission-{what}", entry.submission.id)
