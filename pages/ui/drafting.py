"""The passes that are being written: which draft is open, its files, and how what was typed is kept.

A draft belongs to a task and a slot: "mine", a reference bundle's name, or a stored bundle's digest. The key of an
editor names task, slot, revision and file, and every callback is bound to them when it is drawn: a click that arrives
together with a change of page or slot cannot put text where it does not belong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import frame, resources
from pages.ui.editor import code_editor
from pages.ui.text import plain
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.passes.starting import starting_point
from passnet_core.records import Bundle, PassFile, Task
from passnet_core.service import ReferenceBundle

MINE = "mine"


@dataclass(frozen=True)
class Slot:
    task_id: str
    name: str

    @property
    def revision(self) -> int:
        return st.session_state.get(self._revision_key, 0)

    def renew(self) -> None:
        """Lets new editors take the place of the present ones, whose text is out of date."""
        st.session_state[self._revision_key] = self.revision + 1

    @property
    def _revision_key(self) -> str:
        return f"revision-{self.task_id}-{self.name}"

    def key(self, file: str) -> str:
        return f"code-{self.task_id}-{self.name}-{self.revision}-{file}"


@dataclass(frozen=True)
class Draft:
    """What is open: the slot, the files as they were drawn, and the keys of their editors."""

    slot: Slot
    revision: int
    drawn: Bundle
    keys: tuple[tuple[str, str], ...]

    @property
    def bundle(self) -> Bundle:
        """The files with what their editors hold now."""
        held = {name: st.session_state.get(key) for name, key in self.keys}

        def typed(files: Sequence[PassFile]) -> tuple[PassFile, ...]:
            return tuple(
                file if held.get(file.name) is None else replace(file, code=str(held[file.name])) for file in files
            )

        return replace(self.drawn, passes=typed(self.drawn.passes), helpers=typed(self.drawn.helpers))


def references(task: Task) -> dict[str, ReferenceBundle]:
    """The reference bundles made for this task, by name."""
    return {each.name: each for each in resources.service().reference_bundles() if task.id in each.task_ids}


def slot_titles(task: Task, asked: str | None) -> dict[str, str]:
    """The slots of a task with their titles: mine, the references, and stored bundles that were opened or asked for.

    Raises UnknownItem where what was asked for is neither.
    """
    titles = {MINE: "My passes"}
    titles |= {name: f"Reference: {each.title}" for name, each in references(task).items()}
    for digest in [*st.session_state.get(_opened_key(task), ()), *([asked] if asked else [])]:
        if digest not in titles:
            resources.service().bundle(digest)
            titles[digest] = f"Stored passes {digest[:8]}"
    return titles


def open_stored(task: Task, digest: str) -> None:
    """From a callback: opens a stored bundle as a slot of its own."""
    key = _opened_key(task)
    st.session_state[key] = (*(each for each in st.session_state.get(key, ()) if each != digest), digest)
    # the choice of the slot is bound to the URL, and brings it there
    st.session_state["bundle"] = digest


def _opened_key(task: Task) -> str:
    return f"opened-{task.id}"


def original(task: Task, name: str) -> Bundle:
    """What a slot holds before anybody types in it."""
    if name == MINE:
        if not task.subgraphs:
            raise UnknownItem(f"Task {task.id!r} has no subgraphs, so there is nothing to write a pass for.")
        return starting_point(resources.graph(task.subgraphs[0].code))
    reference = references(task).get(name)
    return reference.bundle if reference else resources.service().bundle(name)


def open_draft(task: Task, name: str) -> Draft:
    """The draft of this slot: as it was left, else as it begins."""
    slot = Slot(task.id, name)
    bundle = resources.service().draft(task.id, name) or original(task, name)
    return Draft(slot, slot.revision, bundle, tuple((file.name, slot.key(file.name)) for file in bundle.files))


def label(task: Task, draft: Draft) -> str:
    """What a run of this draft is called: the slot, and whether its passes are still those it began with."""
    name = draft.slot.name
    return name if name == MINE or draft.bundle.digest == original(task, name).digest else f"{name}, edited"


def draw_editors(draft: Draft, marks: Mapping[str, str]) -> None:
    """One tab per file, passes in their order, then helpers. marks: a sign behind the name of a file."""
    files = draft.drawn.files
    if not files:
        st.info("This bundle has no file. Add a pass under Files.")
        return
    keys = dict(draft.keys)
    titles = [f"{plain(file.name)}{marks.get(file.name, '')}" for file in files]
    for tab, file in zip(st.tabs(titles, key=f"files-{draft.slot.key('')}"), files):
        with tab:
            code_editor(f"Code of {file.name}", file.code, key=keys[file.name], on_change=keep, args=(draft,))


@frame.action
def keep(draft: Draft) -> None:
    """Stores what the editors hold, so that a reload finds it."""
    if draft.revision != draft.slot.revision:
        # a click that came with the text has replaced these editors already, and has taken the text with it
        return
    resources.service().save_draft(draft.slot.task_id, draft.slot.name, draft.bundle)


@frame.action
def start_over(draft: Draft, beginning: Bundle) -> None:
    resources.service().save_draft(draft.slot.task_id, draft.slot.name, beginning)
    draft.slot.renew()


def file_menu(draft: Draft) -> None:
    """Adding, removing and ordering the files of a bundle."""
    name_key = f"new-{draft.slot.key('')}"
    st.text_input("Name of a new file", key=name_key, placeholder="fuse_norm.py")
    with st.container(horizontal=True):
        st.button("Add pass", key=f"add-pass-{name_key}", on_click=add_file, args=(draft, name_key, True))
        st.button("Add helper", key=f"add-helper-{name_key}", on_click=add_file, args=(draft, name_key, False))
    for index, file in enumerate(draft.drawn.files):
        is_pass = index < len(draft.drawn.passes)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{f'{index + 1}.' if is_pass else 'helper'} {plain(file.name)}", width="stretch")
            key = f"{draft.slot.key(file.name)}"
            if is_pass and index:
                st.button(
                    "Earlier", key=f"up-{key}", icon=":material/arrow_upward:", on_click=move_up, args=(draft, index)
                )
            st.button("Remove", key=f"drop-{key}", icon=":material/delete:", on_click=drop, args=(draft, file.name))


@frame.action
def add_file(draft: Draft, name_key: str, is_pass: bool) -> None:
    name = str(st.session_state.get(name_key) or "").strip().removesuffix(".py")
    if not name.isidentifier():
        raise BadInput(f"A file is named like a Python module, such as fuse_norm.py, not {name!r}.")
    bundle = draft.bundle
    file = PassFile(f"{name}.py", EMPTY_PASS if is_pass else EMPTY_HELPER)
    if any(each.name == file.name for each in bundle.files):
        raise BadInput(f"There is a file {file.name} already. Choose another name.")
    passes, helpers = bundle.passes, bundle.helpers
    _replace(draft, replace(bundle, passes=(*passes, file)) if is_pass else replace(bundle, helpers=(*helpers, file)))


@frame.action
def drop(draft: Draft, name: str) -> None:
    bundle = draft.bundle
    _replace(
        draft,
        replace(
            bundle,
            passes=tuple(file for file in bundle.passes if file.name != name),
            helpers=tuple(file for file in bundle.helpers if file.name != name),
        ),
    )


@frame.action
def move_up(draft: Draft, index: int) -> None:
    passes = list(draft.bundle.passes)
    passes[index - 1], passes[index] = passes[index], passes[index - 1]
    _replace(draft, replace(draft.bundle, passes=tuple(passes)))


def _replace(draft: Draft, bundle: Bundle) -> None:
    resources.service().save_draft(draft.slot.task_id, draft.slot.name, bundle)
    draft.slot.renew()


EMPTY_PASS = '''"""What this pass replaces, in one line."""

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.relu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(x < 0, 0.0, x), mask=inside)


@torch.fx.wrap
def relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    relu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
    return out


def replacement_func():
    return relu
'''
EMPTY_HELPER = '''"""Kernels that several passes share."""

import torch
import triton
import triton.language as tl
'''
