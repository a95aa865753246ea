"""A lesson beside the desk: its text, stars, hints, solution, and the comment that fits a mistake."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui import drafting, frame, links, live, resources
from pages.ui.bench import BenchView
from pages.ui.components import headline_words
from pages.ui.help_chapters import CHAPTERS
from pages.ui.lesson_pictures import cost_picture, traffic_picture
from pages.ui.results import MATCH, PROGRAMS, TAB
from pages.ui.text import plain
from passnet_core.lessons.grading import Grade, graded
from passnet_core.lessons.lesson import Lesson, LessonPicture, Star
from passnet_core.lessons.progress import GradedRun
from passnet_core.records import Bundle, Device, Outcome, Verdict

STARS: dict[Star, str] = {
    Star.RULES: "The passes keep the rules, and load.",
    Star.MATCH: "They match in every subgraph of the lesson.",
    Star.VALUES: "Every output is right.",
    Star.KERNELS: "The passes' own kernels compute the values.",
    Star.TRAFFIC: "The launches are given hardly more bytes than the inputs and outputs have.",
}
"""What each star says."""
TABS = {
    LessonPicture.MATCH: (
        MATCH,
        "Step through the match",
        "Opens the tab Match: how each node of the pattern finds a node of the graph.",
    ),
    LessonPicture.PROGRAMS: (
        PROGRAMS,
        "Step through the programs",
        "Opens the tab Programs: which elements each program of your kernel loads and stores.",
    ),
}
"""The tabs of the results that are the picture of a lesson: their name, and what a button says that opens them."""
CAME_FROM = ("workbench", "runs")
"""The pages with verdicts that lead to a lesson, and to which one wants to go back."""
TIMED = "timed"
"""The URL parameter with the run that times a lesson's passes."""
LINK_PX = 300
SHOWN_HINTS = "hints shown"  # session state, followed by the lesson's id


def numbered(lesson: Lesson) -> str:
    """The title of a lesson with its number: "2. A first pattern"."""
    return f"Checkpoint: {lesson.title}" if lesson.checkpoint else f"{lesson.number}. {lesson.title}"


def row(lesson: Lesson, attempt: GradedRun | None) -> None:
    """Draw a lesson in the list: a link, its goal, and what the visitor has reached."""
    stars = attempt.grade.stars if attempt else ()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width=LINK_PX):
            links.link("learn", plain(numbered(lesson)), icon=_icon(lesson, attempt), lesson=lesson.id)
        st.caption(plain(lesson.goal), width="stretch")
        if attempt:
            st.caption(
                f"{'★' * len(stars)}{'☆' * (len(lesson.stars) - len(stars))} {len(stars)} of {len(lesson.stars)}"
            )


def _icon(lesson: Lesson, attempt: GradedRun | None) -> str:
    if attempt and attempt.grade.passed:
        return ":material/check_circle:"
    if attempt:
        return ":material/pending:"
    return ":material/flag:" if lesson.checkpoint else ":material/radio_button_unchecked:"


def selectable(lesson: Lesson) -> list[str]:
    """The subgraphs that may be opened: those that the lesson shows, and in a run those that it judged."""
    judged = links.selected("run") is not None
    return [each.id for each in lesson.task.subgraphs if judged or each.id not in lesson.kept_back]


@dataclass(frozen=True)
class LessonView:
    lesson: Lesson
    here: BenchView

    @property
    def outcomes(self) -> Sequence[Outcome]:
        """What is known of the passes in the editor: of a run of them, or of a check that needs no click."""
        if self.here.progress is not None and self.here.is_current:
            return self.here.progress.outcomes
        return () if self.here.outcome is None else (self.here.outcome,)

    @property
    def grade(self) -> Grade | None:
        """The grade of the passes in the editor; None while nothing is known of them."""
        return graded(self.lesson, self.outcomes) if self.outcomes and not self.here.is_running else None

    def draw(self) -> None:
        """Draw the text, its picture, the hints, the solution, and what comes next."""
        if (before := links.view_before()) is not None and before[0] in CAME_FROM:
            links.link(before[0], "Back to where you were", icon=":material/undo:", **before[1])
        st.markdown(f"**{plain(self.lesson.goal)}**")
        st.markdown(self.lesson.text)
        self._picture()
        self._hints()
        self._solution()
        self._further()

    def draw_grade(self) -> None:
        """Draw the stars, and the comment that fits a mistake or leads on."""
        grade = self.grade
        stars = grade.stars if grade else ()
        with st.container(key="stars", horizontal=True, gap="small"):
            for star in self.lesson.stars:
                earned = star in stars
                st.badge(
                    f"{'★' if earned else '☆'} {star.value}", color="green" if earned else "gray", help=STARS[star]
                )
        if grade is None:
            return
        if grade.ungraded:
            st.warning(plain(grade.ungraded), icon=":material/cloud_off:", title="Not graded")
        elif grade.passed:
            self._passed()
        elif grade.mistake is not None:
            st.info(grade.mistake.comment, icon=":material/lightbulb:", title=self._where())
        elif not grade.complete:
            st.caption("Press Run to have the values judged.")

    def _where(self) -> str:
        """Where the mistake shows, as a title."""
        shown = [each for each in self.outcomes if each.subgraph_id not in self.lesson.kept_back]
        if self.here.outcome is not None and all(each.verdict.accepted for each in shown):
            return "Right here, but not in a variant that the lesson keeps back"
        return "A common mistake"

    def _passed(self) -> None:
        following = self._neighbour(1)
        st.success("You have all stars of this lesson.", icon=":material/celebration:")
        if resources.shared().device().device is Device.CUDA:
            self._timed()
        with st.container(horizontal=True):
            if following:
                links.turn(f"Go on: {plain(numbered(following))}", icon=":material/arrow_forward:", lesson=following.id)
            else:
                links.turn("To the list", icon=":material/list:")

    def _timed(self) -> None:
        """Offer to time the passes on the GPU, at the sizes of the model, and draw one more star if they are faster."""
        run_id = links.selected(TIMED)
        progress = resources.service().progress(run_id) if run_id else None
        if progress is None or progress.run.bundle_digest != self.here.draft.bundle.digest:
            st.button(
                "Time it on the GPU",
                icon=":material/timer:",
                on_click=_time,
                args=(self.lesson, self.here.draft.bundle),
                help="Measures these passes at the sizes of the model, beside eager and TorchInductor.",
            )
        elif not progress.finished:
            live.under_way(progress)
        else:
            (outcome,) = progress.outcomes
            earned = outcome.verdict is Verdict.FASTER
            st.badge(f"{'★' if earned else '☆'} faster than eager", color="green" if earned else "gray")
            st.markdown(plain(headline_words(outcome)))
            links.link("runs", "The run with its times", icon=":material/timer:", run=progress.run.id)

    def _picture(self) -> None:
        if self.lesson.picture is LessonPicture.STEPS:
            traffic_picture(self.lesson)
        elif self.lesson.picture is LessonPicture.COST:
            cost_picture(self.lesson)
        else:
            tab, words, help = TABS[self.lesson.picture]
            st.button(words, icon=":material/play_circle:", on_click=_open_tab, args=(tab,), help=help)

    def _hints(self) -> None:
        key = f"{SHOWN_HINTS} {self.lesson.id}"
        shown, total = st.session_state.get(key, 0), len(self.lesson.hints)
        for number, hint in enumerate(self.lesson.hints[:shown], 1):
            st.info(hint, icon=":material/tips_and_updates:", title=f"Hint {number} of {total}")
        if shown < total:
            st.button(
                f"{'Another hint' if shown else 'Give me a hint'} ({shown + 1} of {total})",
                icon=":material/tips_and_updates:",
                key="hint",
                on_click=_show_hint,
                args=(key,),
            )

    def _solution(self) -> None:
        if self.here.draft.slot.root.name == drafting.SOLUTION:
            st.button(
                "Back to my passes", icon=":material/undo:", key="mine", on_click=_open_slot, args=(drafting.MINE,)
            )
        else:
            st.button(
                "Show the solution",
                icon=":material/key:",
                on_click=_open_slot,
                args=(drafting.SOLUTION,),
                help="Opens a worked solution in the editor. Your own passes stay as they are.",
            )

    def _further(self) -> None:
        if self.lesson.further:
            st.markdown("**What to read next**")
        lessons = {each.id: each for each in resources.shared().course.lessons}
        for each in self.lesson.further:
            if each in lessons:
                links.turn(plain(numbered(lessons[each])), icon=":material/school:", lesson=each)
            elif each in CHAPTERS:
                links.link("help", each, icon=":material/help:", chapter=each)
            else:
                st.markdown(each)
        with st.container(horizontal=True):
            for step, word, icon in ((-1, "Back to", "arrow_back"), (1, "Next:", "arrow_forward")):
                if neighbour := self._neighbour(step):
                    label = f"{word} {plain(numbered(neighbour))}"
                    links.turn(label, icon=f":material/{icon}:", lesson=neighbour.id)
            links.turn("All lessons", icon=":material/list:")

    def _neighbour(self, step: int) -> Lesson | None:
        lessons = resources.shared().course.lessons
        place = [each.id for each in lessons].index(self.lesson.id) + step
        return lessons[place] if 0 <= place < len(lessons) else None


@frame.action
def _time(lesson: Lesson, bundle: Bundle) -> None:
    run_id = resources.service().time_lesson(lesson, bundle)
    links.hand_over(TIMED, run_id, "learn", lesson.id)


def _show_hint(key: str) -> None:
    st.session_state[key] = st.session_state.get(key, 0) + 1


def _open_slot(name: str) -> None:
    st.session_state["bundle"] = name


def _open_tab(name: str) -> None:
    st.session_state[TAB] = name
