"""Pieces that several pages share: verdict card, evidence, findings, and tables of a subgraph's inputs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.ui import links, resources
from pages.ui.text import code_span, figure, plain, seconds, shape, when
from pages.ui.words import VERDICTS, YOURS
from passnet_core.advice import next_step as advising
from passnet_core.charts.breakdown import MEDIANS_SAID, speedup_words, times_words
from passnet_core.graphs import rendering
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import (
    CLOCK_VERSION,
    NOISE_FLOOR,
    RESTS_ON_EVIDENCE,
    TIMED,
    Bundle,
    Clock,
    Contender,
    Evidence,
    Finding,
    MatchReport,
    Outcome,
    Profile,
    SolverKind,
    Stage,
    Subgraph,
)

LINE_PX, CHARACTERS = 20, 90
"""About how high a line of code is, in pixels, and how many characters it holds before it wraps."""
PROFILES: Mapping[Profile, str] = {Profile.STRICT: "strict", Profile.PASSNET: "PassNet's rules"}
"""How each profile is named within a sentence."""
LIVE = '<div role="status" aria-live="polite">\n\n{}\n\n</div>'
"""Markdown within a live region. What goes into it must be escaped."""


def clock_note(version: int) -> str:
    """Name an older clock version; empty for the current one."""
    return "" if version == CLOCK_VERSION else f"clock version {version}"


def clocks_apart(versions: Sequence[int]) -> str:
    """Say that results of other clock versions are shown elsewhere; empty if there are none."""
    if not versions:
        return ""
    named = " and ".join(map(str, versions))
    return (
        f"Results of clock version {named} are left out here and can be chosen above: their times were taken"
        " differently and cannot be compared with these."
    )


def match_marks(match: MatchReport | None) -> dict[str, Any]:
    """Return arguments for graph_view: which pass matched what, or where and why the nearest miss failed."""
    marks = rendering.marks_of(match)
    return {"groups": marks.groups, "passes": marks.passes, "miss": marks.miss, "reason": marks.reason}


def verdict_card(outcome: Outcome, *, recorded: str = "", more: Callable[[], None] | None = None) -> None:
    """Draw the verdict, its cause and one next step, with a link to the lesson that explains it; and, folded, noise and
    conditions. more: draws what comes before the next step."""
    words = VERDICTS[outcome.verdict]
    times = times_words(outcome)
    times_say_it = bool(times) and outcome.verdict in TIMED
    with st.container(border=True):
        headline(outcome)
        if times:
            st.markdown(plain(times))
        if not times_say_it:
            _reason(outcome.reason)
        if outcome.verdict in RESTS_ON_EVIDENCE:
            evidence_list(outcome.evidence)
        if concern := concerned(outcome):
            st.caption(f"Problem in {plain(concern)}.")
        for warning in outcome.warnings:
            st.caption(f":material/info: {plain(warning)}")
        if more:
            more()
        st.markdown(f"**Next:** {plain(advising.next_step(outcome) or words.next_step)}")
        learn_why("Learn why", resources.shared().course.explaining(outcome))
        with st.expander("Noise and conditions" if times_say_it else "Conditions"):
            if times_say_it:
                _reason(outcome.reason)
                noise = [each.text for each in outcome.evidence if each.topic == NOISE_FLOOR]
                st.caption(plain(" ".join([*noise, MEDIANS_SAID])))
            st.caption(" · ".join(plain(each) for each in conditions(outcome, recorded)))


def learn_why(words: str, lesson: Lesson | None) -> None:
    """Draw a link to a lesson that explains something, unless it is open."""
    if lesson is not None and links.selected("lesson") != lesson.id:
        links.link("learn", f"{words}: {plain(lesson.title)}", icon=":material/school:", lesson=lesson.id)


def concerned(outcome: Outcome) -> str:
    """Name what has the problem; empty if there is none. TorchInductor has what passes would have."""
    concern = VERDICTS[outcome.verdict].concern
    inductor = concern == YOURS and outcome.solver is SolverKind.INDUCTOR
    return outcome.spec.names[Contender.BASELINE] if inductor else concern


def _reason(reason: str) -> None:
    """Draw a reason: its first line as a sentence, and any further lines, of a compiler for example, unchanged."""
    first, _, rest = reason.strip().partition("\n")
    st.markdown(plain(first))
    if rest.strip():
        long_code(rest, height=260)


def long_code(text: str, *, height: int, language: str | None = None) -> None:
    """Show a text; one that is higher than so many pixels scrolls, and the keyboard reaches what is below."""
    lines = sum(1 + len(line) // CHARACTERS for line in text.splitlines())
    with st.container(height=height if lines * LINE_PX > height else "content", border=False):
        st.code(text, language=language, wrap_lines=True)


def headline(outcome: Outcome) -> None:
    """Draw the verdict and the speedup in one line."""
    words = VERDICTS[outcome.verdict]
    st.markdown(f"## :{words.tone}[:material/{words.icon}: {plain(headline_words(outcome))}]")


def announce(words: str) -> None:
    """Draw words, as Markdown, in a region that screen readers announce whenever they change. It has to be on the page
    before they change."""
    st.markdown(LIVE.format(words), unsafe_allow_html=True)


def headline_words(outcome: Outcome) -> str:
    """Return the verdict and the speedup as plain text: "Faster: 2.10× eager"."""
    speedup = outcome.speedup()
    text = outcome.verdict.value[:1].upper() + outcome.verdict.value[1:]
    gist = f"{speedup.value:.2f}× eager" if speedup else VERDICTS[outcome.verdict].gist
    return f"{text}: {gist}" if gist else text


def evidence_list(evidence: Sequence[Evidence]) -> None:
    """Draw each piece of evidence; texts of several lines can be folded."""
    for each in evidence:
        if "\n" in each.text.strip():
            with st.expander(plain(each.topic), icon=":material/description:", expanded=len(each.text) < 1500):
                st.code(each.text, language=None, wrap_lines=True)
        else:
            st.markdown(f"**{plain(each.topic[:1].upper() + each.topic[1:])}:** {plain(each.text)}")


def finding_list(
    findings: Sequence[Finding], bundle: Bundle | None, go_to: Callable[[str, int, int], None] | None = None
) -> None:
    """Draw each finding of a rule with its place, the source line and the remedy.

    go_to: shows a file, line and column in an editor; each finding then has a button for its line."""
    files = {file.name: file.code.splitlines() for file in (bundle.files if bundle else ())}
    course = resources.shared().course
    for number, finding in enumerate(findings):
        show = st.error if finding.fatal else st.warning
        lines = files.get(finding.file, [])
        quoted = lines[finding.line - 1].strip() if 0 < finding.line <= len(lines) else ""
        show(
            f"{plain(finding.message)} {plain(finding.remedy)}" + (f"  \n{code_span(quoted)}" if quoted else ""),
            title=f"{plain(finding.file)}, line {finding.line}, column {finding.column}: {plain(finding.rule)}",
            icon=":material/gavel:" if finding.fatal else ":material/info:",
        )
        if go_to is not None and finding.file in files:
            st.button(
                f"Go to line {finding.line} of {plain(finding.file)}",
                icon=":material/my_location:",
                type="tertiary",
                key=f"go-to-{number}",
                on_click=go_to,
                args=(finding.file, finding.line, finding.column),
            )
        if all(finding.rule != each.rule for each in findings[:number]):
            learn_why(f"Learn about the rule {plain(finding.rule)}", course.explaining_word(finding.rule))


def conditions(outcome: Outcome, recorded: str = "") -> tuple[str, ...]:
    """Return the conditions under which an outcome holds, as short pieces of text."""
    spec, environment = outcome.spec, outcome.environment
    pieces = [
        environment.device if environment else "",
        f"{spec.capture.value} capture" if spec.stage is not Stage.CHECK else "check only",
        PROFILES[spec.profile],
        _baseline_words(outcome),
        f"{outcome.dtype}" if outcome.dtype else "",
        when(outcome.finished_at),
        f"took {seconds(outcome.wall_s)}",
        f"recorded: {recorded}" if recorded else "",
    ]
    return tuple(each for each in pieces if each)


def _baseline_words(outcome: Outcome) -> str:
    """Name the baseline that is the solver, or beside which passes were timed; empty if it played no part."""
    name = outcome.spec.names[Contender.BASELINE]
    if outcome.solver is SolverKind.INDUCTOR:
        return name
    return f"beside {name}" if any(each.contender is Contender.BASELINE for each in outcome.timings) else ""


def speedup_text(outcome: Outcome, clock: Clock = Clock.END_TO_END, contender: Contender | None = None) -> str:
    """ "1.42× (1.38 to 1.47)", or a dash."""
    return speedup_words(outcome.speedup(clock, contender)) or "–"


def input_rows(subgraph: Subgraph) -> list[dict[str, str]]:
    """Return one table row per input of a subgraph, as recorded."""
    return [
        {
            "input": spec.name,
            "shape": shape(spec.shape),
            "dtype": spec.dtype,
            "mean": figure(spec.mean),
            "std": figure(spec.std),
            "range": f"{figure(spec.low)} to {figure(spec.high)}" if spec.low is not None else "",
            "name in the model": spec.original_name,
        }
        for spec in subgraph.inputs
    ]


def subgraph_title(subgraph: Subgraph) -> str:
    """Describe a subgraph in one line of plain text: id, dtype, and the shape of its largest input."""
    largest = max((spec.shape for spec in subgraph.inputs), key=lambda sizes: _elements(sizes), default=())
    return f"{subgraph.id} · {subgraph.dtype} · {shape(largest)}"


def _elements(sizes: tuple[int, ...]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
