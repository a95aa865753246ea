"""A class: what is assigned and until when, for students; for teachers also how far everybody is, and the grades."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin

import streamlit as st

from pages.ui import accounts, frame, links, resources
from pages.ui.lesson_pane import numbered
from pages.ui.text import count, plain, when
from passnet_core.access.classes import OwnAssignment, StudentRow, titled
from passnet_core.charts.downloads import csv_text, file_stem
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.lessons.grades import Attainment, ErrorCount, WorkState
from passnet_core.people.groups import LONGEST_ITEM, Assignment, AssignmentKind, Group
from passnet_core.people.person import LONGEST_NAME, PersonRole

GROUP, JOIN, ASSIGNMENT = "group", "join", "assignment"
"""What the URL selects: a class, by its id; an invitation; an assignment, by what it is called."""
NAME, LESSON, TASK, OPENS, DUE = "class-name", "class-lesson", "class-task", "class-opens", "class-due"
USUAL = timedelta(days=7)
ICONS = {
    WorkState.NOT_BEGUN: ":material/radio_button_unchecked:",
    WorkState.ATTEMPTED: ":material/pending:",
    WorkState.PASSED: ":material/check_circle:",
}
UNITS = {AssignmentKind.LESSON: ("star", "stars"), AssignmentKind.TASK: ("subgraph", "subgraphs")}
SEEN = (
    "Its teacher then sees on what is assigned, earlier runs included: your verdicts, stars, how many subgraphs were"
    " accepted, and when. Your code stays yours: the teacher does not see it unless you share a run by its link."
)


def stranger() -> None:
    """Ask somebody to sign in who has not."""
    st.title("Class")
    again = " Then open your invitation again." if links.selected(JOIN) else ""
    st.info(f"Sign in to join a class, and to see yours.{again}", icon=":material/person:")
    accounts.sign_in("class")


def overview() -> None:
    """List the classes of who is there."""
    classes = resources.service().classes
    st.title("Class")
    taught, joined = classes.taught(), classes.joined()
    for each in joined:
        links.turn(f"{plain(each.name)} · {plain(each.teacher)}", icon=":material/school:", group=each.id)
    if not joined:
        st.caption("You are in no class. To join one, open the link that its teacher gave you.")
    if not classes.may_teach:
        return
    st.header("Classes that you teach")
    for group in taught:
        links.turn(plain(group.name), icon=":material/co_present:", group=group.id)
    with st.form("new-class", border=False):
        st.text_input("Name of a new class", key=NAME, max_chars=LONGEST_NAME)
        st.form_submit_button("Make the class", icon=":material/add:", on_click=make)


@frame.action
def make() -> None:
    group = resources.service().classes.make(str(st.session_state[NAME]))
    links.turn_to({GROUP: group.id})


# --- joining ---


def invitation(secret: str) -> None:
    """Show which class an invitation opens. Nobody joins by opening it."""
    invited = resources.service().classes.invited(secret)
    st.title(plain(invited.name), anchor=False)
    st.markdown(f"**{plain(invited.teacher)}** invites you to this class.")
    st.markdown(SEEN)
    st.button(
        f"Join {plain(invited.name)} of {plain(invited.teacher)}",
        icon=":material/group_add:", type="primary", key="join-class", on_click=join, args=(secret,),
    )  # fmt: skip


@frame.action
def join(secret: str) -> None:
    joined = resources.service().classes.join(secret)
    links.turn_to({GROUP: joined.id})


# --- for students ---


def attended(group_id: str) -> None:
    """Draw a class as its students see it."""
    classes = resources.service().classes
    joined = classes.joined_class(group_id)
    st.title(plain(joined.name), anchor=False)
    st.caption(f"Taught by {plain(joined.teacher)}.")
    work = classes.own_work(group_id)
    for each in work:
        own_assignment(each)
    if not work:
        st.info("Nothing is assigned yet.", icon=":material/assignment:")
    with st.popover("Leave this class", icon=":material/logout:"):
        st.markdown("Its teacher then sees nothing of yours. Your code, runs and stars stay with you.")
        st.button("Leave", key="leave-class", on_click=leave, args=(group_id,))
    links.turn("All classes", icon=":material/list:")


def own_assignment(own: OwnAssignment) -> None:
    assignment = own.assignment
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if own.is_open:
            lead(assignment, ICONS[own.attained.state])
            dates = f"due {when(assignment.due_at)}"
        else:
            st.markdown(f":material/lock_clock: {plain(named(assignment))}", width="content")
            dates = f"opens {when(assignment.opens_at)}, due {when(assignment.due_at)}"
        st.caption(plain(f"{reached_words(assignment, own.attained)} · {dates}"), width="stretch")


def lead(assignment: Assignment, icon: str) -> None:
    """Draw the link to what is assigned."""
    if assignment.kind is AssignmentKind.LESSON:
        links.link("learn", plain(named(assignment)), icon=icon, lesson=assignment.item)
    else:
        links.link("workbench", plain(named(assignment)), icon=icon, task=assignment.item)


def named(assignment: Assignment) -> str:
    """The title of a lesson, or the id of a task."""
    if assignment.kind is AssignmentKind.LESSON:
        return numbered(resources.shared().course.lesson(assignment.item))
    return assignment.item


def reached_words(assignment: Assignment, attained: Attainment) -> str:
    """What somebody has reached: "attempted, 2 of 5 stars; late: passed, 5 of 5 stars"."""
    said = [attained.state.value]
    if attained.best is not None:
        said += [earned_words(assignment, attained.earned, attained.total)]
    words = ", ".join(said)
    if attained.late is None:
        return words
    late = earned_words(assignment, attained.late.earned, attained.total)
    return f"{words}; late: {attained.late_state.value}, {late}"


def earned_words(assignment: Assignment, earned: int, total: int) -> str:
    accepted = "" if assignment.kind is AssignmentKind.LESSON else " accepted"
    return f"{earned} of {count(total, *UNITS[assignment.kind])}{accepted}"


@frame.action
def leave(group_id: str) -> None:
    resources.service().classes.leave(group_id)
    links.turn_to({})


# --- for teachers ---


def taught(group_id: str) -> None:
    """Draw a class as its teacher sees it."""
    classes = resources.service().classes
    group = classes.group(group_id)
    st.title(plain(group.name), anchor=False)
    invitation_link(group)
    assigned = classes.assignments(group_id)
    assigning(group, assigned)
    rows = classes.progress(group_id)
    progress(group, assigned, rows)
    if assigned and rows:
        details(group, assigned, rows)
    ending(group, rows)
    links.turn("All classes", icon=":material/list:")


def invitation_link(group: Group) -> None:
    st.markdown("Who has this link and signs in can join:")
    st.code(urljoin(st.context.url or "", f"class?{JOIN}={group.invitation}"), language=None)
    st.button(
        "Renew the link", icon=":material/autorenew:", key="renew-class", on_click=renew, args=(group.id,),
        help="Makes another link. The one above then opens nothing; who has joined stays.",
    )  # fmt: skip


def assigning(group: Group, assigned: Sequence[Assignment]) -> None:
    st.header("Assignments")
    for each in assigned:
        words, button = st.columns([5, 1], vertical_alignment="center")
        dates = f"opens {when(each.opens_at)}, due {when(each.due_at)}"
        words.markdown(f"{plain(titled(each))} · {plain(dates)}")
        button.button(
            "Withdraw", key=f"withdraw-{each.id}", icon=":material/remove:", on_click=withdraw, args=(group.id, each.id)
        )
    now = datetime.now(UTC).replace(tzinfo=None, minute=0, second=0, microsecond=0)
    with st.form("assign", border=False):
        lesson, task = st.columns(2)
        lesson.selectbox(
            "A lesson", [each.id for each in resources.shared().course.lessons], index=None, key=LESSON,
            placeholder="Choose a lesson",
        )  # fmt: skip
        task.text_input("Or the id of a task", key=TASK, max_chars=LONGEST_ITEM, help="As it is in Explore.")
        opens, due = st.columns(2)
        opens.datetime_input("Opens, UTC", now, key=OPENS)
        due.datetime_input("Due, UTC", now + USUAL, key=DUE)
        st.form_submit_button(
            "Assign", icon=":material/add:", on_click=assign, args=(group.id,),
            help="What is assigned already gets these dates.",
        )  # fmt: skip


@frame.action
def assign(group_id: str) -> None:
    lesson, task = st.session_state[LESSON], str(st.session_state[TASK]).strip()
    if bool(lesson) == bool(task):
        raise BadInput("Choose either a lesson or a task to assign.")
    opens, due = (_in_utc(st.session_state[key]) for key in (OPENS, DUE))
    kind = AssignmentKind.LESSON if lesson else AssignmentKind.TASK
    resources.service().classes.assign(group_id, kind, lesson or task, opens, due)


def _in_utc(moment: datetime | None) -> str:
    if moment is None:
        raise BadInput("An assignment has two dates. Choose when it opens, and when it is due.")
    return moment.replace(tzinfo=UTC).isoformat()


@frame.action
def withdraw(group_id: str, assignment_id: str) -> None:
    resources.service().classes.withdraw(group_id, assignment_id)


@frame.action
def renew(group_id: str) -> None:
    resources.service().classes.renew(group_id)


def progress(group: Group, assigned: Sequence[Assignment], rows: Sequence[StudentRow]) -> None:
    st.header("Progress")
    if not rows:
        st.info("Nobody has joined yet.", icon=":material/group:")
        return
    st.dataframe(
        [{"student": row.member.name, **states(assigned, row.attained)} for row in rows],
        hide_index=True, width="stretch",
    )  # fmt: skip
    classes = resources.service().classes  # a download is made where nobody is known
    st.download_button(
        "Download the grades as CSV",
        lambda: csv_text(classes.grades(group.id)),
        file_name=f"{file_stem('grades', group.name)}.csv", mime="text/csv",
        icon=":material/download:", on_click="ignore",
        help="In percent of the stars, or of the subgraphs that were accepted, in the best run that ended in time.",
    )  # fmt: skip


def states(assigned: Sequence[Assignment], attained: Mapping[str, Attainment]) -> dict[str, str]:
    return {titled(each): reached_words(each, attained[each.id]) for each in assigned if each.id in attained}


def details(group: Group, assigned: Sequence[Assignment], rows: Sequence[StudentRow]) -> None:
    """Draw who did what when in one assignment, and what usually went wrong."""
    names = {titled(each): each for each in assigned}
    chosen = names[st.selectbox("Assignment", list(names), key=ASSIGNMENT, bind="query-params")]
    st.dataframe(
        [detail(row, row.attained[chosen.id]) for row in rows if chosen.id in row.attained],
        hide_index=True, width="stretch", placeholder="–",
    )  # fmt: skip
    for row in rows:
        for run in shared_runs(row, chosen):
            links.link("runs", f"A run that {plain(row.member.name)} shares", icon=":material/share:", run=run)
    errors = resources.service().classes.typical_errors(group.id, chosen.id)
    st.subheader("Typical errors")
    if not errors.verdicts:
        st.caption("No run of this class went wrong here.")
        return
    verdicts, causes = st.columns(2)
    with verdicts:
        error_table("verdict", errors.verdicts)
    with causes:
        error_table("why", errors.causes)


def detail(row: StudentRow, attained: Attainment) -> dict[str, object]:
    best, late = attained.best, attained.late
    return {
        "student": row.member.name,
        "state": attained.state.value,
        "grade, %": attained.percent,
        "on": when(best.finished_at.isoformat()) if best else None,
        "verdicts": ", ".join(dict.fromkeys(best.verdicts)) if best else None,
        "late, %": attained.late_percent,
        "late on": when(late.finished_at.isoformat()) if late else None,
        "runs": attained.runs,
    }


def shared_runs(row: StudentRow, assignment: Assignment) -> list[str]:
    """The ids of the runs that count for a student and that the student shares."""
    attained = row.attained.get(assignment.id)
    runs = (attained.best, attained.late) if attained else ()
    return [each.run_id for each in runs if each is not None and each.run_id in row.shared]


def error_table(what: str, errors: Sequence[ErrorCount]) -> None:
    st.dataframe(
        [{what: each.says, "runs": each.runs, "students": each.students} for each in errors],
        hide_index=True, width="stretch",
    )  # fmt: skip


def ending(group: Group, rows: Sequence[StudentRow]) -> None:
    """Draw how students are taken out, and how the class is closed."""
    with st.expander("Students", icon=":material/group:"):
        for row in rows:
            words, button = st.columns([5, 1], vertical_alignment="center")
            words.markdown(f"{plain(row.member.name)} · joined {plain(when(row.member.joined_at))}")
            button.button(
                "Remove", key=f"remove-{row.member.person_id}", icon=":material/person_remove:", on_click=remove,
                args=(group.id, row.member.person_id),
            )  # fmt: skip
    with st.popover("Close this class", icon=":material/delete:"):
        st.markdown("The list of students, the assignments and the link go. Download the grades before.")
        st.button("Close it for good", key="close-class", type="primary", on_click=end, args=(group.id,))


@frame.action
def remove(group_id: str, person_id: str) -> None:
    resources.service().classes.remove(group_id, person_id)


@frame.action
def end(group_id: str) -> None:
    resources.service().classes.end(group_id)
    links.turn_to({})


def opened() -> None:
    """Draw what the URL selects."""
    secret, group_id = links.selected(JOIN), links.selected(GROUP)
    if secret is not None:
        invitation(secret)
    elif group_id is None:
        overview()
    elif resources.service().classes.teaches(group_id):
        taught(group_id)
    else:
        attended(group_id)


if resources.service().role is PersonRole.VISITOR:
    stranger()
else:
    try:
        opened()
    except UnknownItem as error:
        frame.report(error)
        overview()
