"""The finished example that a new visitor sees first: a recorded result of a reference bundle, and a way to try it."""

import re
from dataclasses import dataclass

import streamlit as st

from pages.ui import drafting, frame, links, resources
from pages.ui.drafting import EditorDraft
from pages.ui.text import plain
from passnet_core.leaderboard.example import Example
from passnet_core.records import Clock, Contender, LineChange, PassFile, Subgraph, Task

LAST = "last task"  # session state: what the URL selected in the Workbench when the visitor left it
NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?![\w.])")


@dataclass(frozen=True)
class ShownExample:
    """An example with its subgraph. reference: the name of its reference bundle."""

    reference: str
    subgraph: Subgraph
    found: Example

    @property
    def place(self) -> dict[str, str]:
        """What a link to the Workbench selects there."""
        outcome = self.found.outcome
        return {"task": outcome.task_id, "subgraph": outcome.subgraph_id, "bundle": self.reference}

    @property
    def gist(self) -> str:
        """What the example shows, in one sentence of plain text."""
        speedup = self.found.speedup
        inductor = self.found.outcome.speedup(Clock.END_TO_END, Contender.BASELINE)
        passes = "This pass makes" if len(self.found.bundle.passes) == 1 else "These passes make"
        own = f"{passes} a subgraph of {self.subgraph.source_model} {speedup:.1f} times as fast as eager"
        return f"{own}; TorchInductor makes it {inductor.value:.1f} times as fast." if inductor else f"{own}."


@st.cache_resource(show_spinner=False, max_entries=4)
def finished_example(data: str) -> ShownExample | None:
    """Return the example of the recorded runs that come with the playground; None if there is none.

    data: the folder of this data, the cache's key: nothing in it changes while the playground runs."""
    service = resources.shared()
    found = service.example()
    if found is None:
        return None
    reference = next(each for each in service.reference_bundles() if each.bundle.digest == found.bundle.digest)
    subgraph = service.corpus.task(found.outcome.task_id).subgraph(found.outcome.subgraph_id)
    return ShownExample(reference.name, subgraph, found)


def first_place() -> dict[str, str] | None:
    """Return what the Workbench opens without a task in the URL: what this tab had open there last, the newest draft,
    or the example."""
    kept: dict[str, str] | None = st.session_state.get(LAST)
    if kept:
        return kept
    if drafts := drafting.saved_drafts():
        newest = drafts[0]
        return {"task": newest.task_id} | ({} if newest.slot == drafting.MINE else {"bundle": newest.slot})
    example = finished_example(str(resources.shared().settings.data))
    return example.place if example else None


def welcome(task: Task, draft: EditorDraft) -> None:
    """Say what the example shows, and offer to try it, to who has opened it or a copy of it."""
    example = finished_example(str(resources.shared().settings.data))
    if example is None or task.id != example.found.outcome.task_id:
        return
    if draft.slot.root.name != example.reference:
        return
    with st.container(key="welcome", horizontal=True, vertical_alignment="center", gap="small"):
        if draft.bundle.digest == example.found.bundle.digest:
            st.markdown(plain(example.gist), width="stretch")
            change = _number(draft.bundle.passes[0])
            st.button(
                "Change a number and see",
                icon=":material/edit:",
                on_click=_change,
                args=(draft, change),
                disabled=change is None,
                help=f"Line {change.line}: {change.old.strip()} becomes {change.new.strip()}." if change else None,
            )
        else:
            st.markdown("A copy of the example, and yours. Run tells whether it is right.", width="stretch")
        if st.button("Start the course", icon=":material/school:"):
            lessons = resources.shared().course.lessons
            st.switch_page(links.script("learn"), query_params={"lesson": lessons[0].id} if lessons else None)


def _number(file: PassFile) -> LineChange | None:
    """A change of the first number in a pattern; None: it has none."""
    lines = file.code.splitlines()
    begin = next((index for index, line in enumerate(lines) if line.startswith("def pattern")), len(lines))
    end = next((index for index in range(begin + 1, len(lines)) if lines[index][:1].strip()), len(lines))
    for index in range(begin + 1, end):
        line = lines[index]
        if not line.lstrip().startswith("#") and (found := NUMBER.search(line)):
            other = f"{float(found[0]) + 1:g}" if "." in found[0] else str(int(found[0]) + 1)
            return LineChange(index + 1, line, line[: found.start()] + other + line[found.end() :])
    return None


@frame.action
def _change(draft: EditorDraft, change: LineChange) -> None:
    drafting.apply_lines(draft, draft.bundle.passes[0].name.removesuffix(".py"), [change])
