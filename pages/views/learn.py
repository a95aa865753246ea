"""Learn: the lessons of the course, and each of them beside graph, editor and results."""

import streamlit as st

from pages.ui import bench, desk, drafting, frame, lesson_pane, links, resources, sharing, uploads
from pages.ui.certificates import certificate_page
from pages.ui.panes import panes
from pages.ui.text import count, plain
from passnet_core.errors import UnknownItem
from passnet_core.lessons.lesson import Lesson
from passnet_core.lessons.progress import next_lesson
from passnet_core.service import LONGEST_HOLDER

PANES = ("lesson", *desk.PANES)
WIDTHS = (27, 18, 32, 23)
HOLDER = "holder"


def overview() -> None:
    """List the lessons, with what the visitor has reached, and lead on to the next one."""
    course = resources.shared().course
    attempts = resources.service().attempts()
    lessons = course.lessons
    passed = [each for each in lessons if each.id in attempts and attempts[each.id].grade.passed]
    st.title("Learn to write passes")
    st.markdown(
        "From a graph to a pass that beats the compiler, in short lessons. Each has a small real subgraph and passes"
        " with one thing missing. The judge grades what you write: no GPU is needed."
    )
    following = next_lesson(course, attempts)
    if following is not None:
        label = f"{'Go on with' if attempts else 'Begin with'} {lesson_pane.numbered(following)}"
        if st.button(plain(label), type="primary", icon=":material/play_arrow:"):
            st.switch_page(links.script("learn"), query_params={"lesson": following.id})
    st.progress(
        len(passed) / len(lessons) if lessons else 0.0, f"{len(passed)} of {count(len(lessons), 'lesson')} done"
    )
    for each in lessons:
        lesson_pane.row(each, attempts.get(each.id))
    if lessons and following is None:
        certificate_form()
    keeping(bool(attempts))


def certificate_form() -> None:
    st.header("Your certificate")
    st.markdown(
        "You have passed all lessons. A certificate has a link of its own, and anybody can have it judged again."
    )
    with st.form("certificate", border=False):
        st.text_input("The name on it", key=HOLDER, max_chars=LONGEST_HOLDER)
        st.form_submit_button("Make the certificate", icon=":material/workspace_premium:", on_click=certify)


@frame.action
def certify() -> None:
    certificate = resources.service().certify(st.session_state[HOLDER])
    links.turn_to({"certificate": certificate.id})


def keeping(is_anything: bool) -> None:
    """Draw how to take one's progress to another browser or machine."""
    with st.expander("Take your progress elsewhere", icon=":material/sync_alt:"):
        st.markdown(
            "Progress belongs to this browser. The file has your passes with their verdicts. Where it is read, the"
            " passes replace those in the lessons and are judged again."
        )
        if is_anything:
            st.download_button(
                "Download my progress",
                resources.service().export_course,
                file_name="passnet-course.jsonl",
                icon=":material/download:",
                on_click="ignore",
            )
        uploads.import_course()


def lesson_page(lesson: Lesson) -> None:
    links.arrive("learn", lesson.id)
    task = lesson.task
    with frame.errors_shown():
        sharing.open_packed(task)
    with st.container(key="bench-head", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.title(plain(lesson_pane.numbered(lesson)), anchor=False, width="stretch")
        subgraph, slot = desk.selectors(task, lesson_pane.selectable(lesson))
        draft = drafting.open_draft(task, slot)
        toolbar(lesson, draft)
        here = bench.latest(task, subgraph, draft)
        sharing.copy_link(task, draft, here.run_id if here.is_current else None)
    bench.verdict_bar(here)
    left, *others = panes(PANES, WIDTHS)
    view = lesson_pane.LessonView(lesson, here)
    with left:
        view.draw()
    desk.desk(here, others, before=view.draw_grade)


def toolbar(lesson: Lesson, draft: drafting.EditorDraft) -> None:
    desk.check_and_run(
        lesson.task,
        draft,
        check="Applies the static rules and matches the patterns. The page does that by itself after typing, too.",
        run="Has the judge grade these passes, also on inputs and variants that the lesson does not show.",
        whole=True,
    )
    with st.popover("More", icon=":material/more_horiz:"):
        desk.start_over(lesson.task, draft, "Restores the text that the lesson begins with.")
        drafting.file_menu(draft)


chosen, shown = links.selected("lesson"), links.selected("certificate")
if shown is not None:
    certificate_page(shown)
elif chosen is None:
    overview()
else:
    try:
        opened = resources.shared().course.lesson(chosen)
    except UnknownItem as error:
        frame.report(error)
        overview()
    else:
        lesson_page(opened)
