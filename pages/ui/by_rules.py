"""What the drawer shows when rules write the passes: the bundle, and what it leaves as it is."""

import streamlit as st

from pages.ui import resources
from pages.ui.drafting import EditorDraft
from pages.ui.proposals import proposal
from pages.ui.text import plain
from passnet_core.records import Task
from passnet_core.solvers.rules.candidates import by_model


def by_rules(task: Task, draft: EditorDraft) -> None:
    """Propose the bundle that the rules write. Raises BadInput that names what they do not know, if there is none."""
    candidates = resources.by_rules(task)
    kept = by_model(candidates)
    found = kept.written
    st.caption(
        "Rules fuse the operations between library calls, such as matrix products and convolutions. No model is used,"
        " and nothing has been judged yet: open the bundle in the editor, then press Run."
    )
    proposal(task, draft, found.bundle, closes=True)
    if len(candidates) > 1:
        others = ", ".join(f"{each.name} {each.speedup:.2f}" for each in candidates if each is not kept)
        fastest = kept.speedup == max(each.speedup for each in candidates)
        chosen = "expects this one to be the fastest" if fastest else "expects none to be clearly faster than this one"
        st.caption(
            f":material/speed: Of {len(candidates)} ways to write it, a cost model for an H100 {chosen}:"
            f" {kept.name} {kept.speedup:.2f} times eager's speed, {others}."
        )
    if kept.gainless:
        st.caption(f":material/trending_flat: Left to PyTorch, which is as fast: {plain(', '.join(kept.gainless))}.")
    if found.libraries:
        st.caption(f":material/local_library: Left to libraries: {plain(', '.join(found.libraries))}.")
    if found.left:
        st.caption(
            f":material/info: Left to PyTorch, because the rules do not cover it: {plain('; '.join(found.left))}."
        )
