"""Drafts of passes: which one is open, which files it has, and how typed text is saved.

A draft belongs to a visitor, a task and a slot: "mine", a reference bundle's name, or a stored bundle's digest. A
reference and a stored bundle never change, so that a link to one opens what its sender meant: what a visitor makes of
one is saved as a copy, in a slot named after it ("relu.1"), to which the page turns.

Each message of the editor names its slot and revision. So text that arrives while the visitor changes page or slot is
saved in the right draft, and text that has been replaced does not come back. Each tab knows which saved draft its text
was made from. If another tab has saved one since, nothing is saved until the visitor has chosen between the two.
"""

import ast
import contextlib
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.ui import editor, frame, links, resources
from pages.ui.components import long_code
from pages.ui.editor import EditorMessage, Template, code_editor
from pages.ui.places import place_of
from pages.ui.text import codes, difference, key_of, plain, when
from passnet_core import outside
from passnet_core.bundles.starting import starting_point
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.graphs.respelling import patched
from passnet_core.outside import syntax_tree
from passnet_core.people.quotas import NotAllowed
from passnet_core.records import Bundle, Finding, LineChange, PassFile, Task
from passnet_core.service import OWN_SLOT, Draft, ReferenceBundle, SavedDraft
from passnet_core.settings import ASSETS

MINE = OWN_SLOT
SOLUTION = "solution"
"""The slot with the solution of a lesson."""
COPY = re.compile(r"(?P<original>.+)\.[1-9]\d*", re.DOTALL)
"""The slot of a copy: the slot of its original, and which copy of it this is."""
NOTES = "notes on drafts"  # session state
COMING = "copy that is coming"  # in the notes: (task, slot, the copy of it to which the page turns)
APPLIED = "applied"  # session state: (digest of the passes after the last suggested edit, what it changed)
TEMPLATES = tuple(
    Template((ast.get_docstring(syntax_tree(code)) or "").partition("\n")[0], code)
    for code in (file.read_text(encoding="utf-8") for file in sorted((ASSETS / "templates").glob("*.py")))
)
"""Templates for a new file, titled by the first line of their docstring: passes of the usual kinds, and a helper."""


def _notes() -> dict[str, Any]:
    """What this tab knows of its drafts, by the keys of their slots. Whoever saves a draft takes this dictionary first:
    Streamlit may end a run for a newer one wherever it touches the session's state, also between the saving and the
    note of what was saved, and then the tab would take its own text for another tab's."""
    found: dict[str, Any] = st.session_state.setdefault(NOTES, {})
    return found


@dataclass(frozen=True)
class Slot:
    task_id: str
    name: str

    @property
    def revision(self) -> int:
        found: int = _notes().get(self._revision_key, 0)
        return found

    def renew(self, notes: dict[str, Any] | None = None) -> None:
        """Mark the text that the editor holds as out of date: another text replaces it. notes: as _notes returned them
        before that text was saved."""
        notes = _notes() if notes is None else notes
        notes[self._revision_key] = notes.get(self._revision_key, 0) + 1

    @property
    def _revision_key(self) -> str:
        return f"revision-{self.task_id}-{self.name}"

    @property
    def root(self) -> "Slot":
        """The slot that this one holds a copy of, or this one if it holds none."""
        found = COPY.fullmatch(self.name)
        return Slot(self.task_id, found["original"]) if found and found["original"] != MINE else self

    @property
    def stays(self) -> bool:
        """Whether what is made of this slot's passes is saved in a copy."""
        return self.name != MINE and self.root == self

    @property
    def document(self) -> str:
        """What the editor calls this text. A copy goes on with the text, and the history of its changes, in which it
        was begun; its original is a new text from then on."""
        found: str = _notes().get(self._document_key, f"{self.editor} {self.name}")
        return found

    @property
    def _document_key(self) -> str:
        return f"document-{self.task_id}-{self.name}"

    def saved(self, place: int | None = None) -> SavedDraft | None:
        """The newest saved draft, from whichever tab, or the one at this place."""
        return resources.service().draft(self.task_id, self.name, place)

    @property
    def seen(self) -> int | None:
        """The place of the saved draft that this tab shows and changes; None: there was none."""
        if self._seen_key not in (notes := _notes()):
            newest = self.saved()
            notes[self._seen_key] = newest.place if newest else None
        found: int | None = notes[self._seen_key]
        return found

    def see(self, place: int | None) -> None:
        _notes()[self._seen_key] = place

    @property
    def _seen_key(self) -> str:
        return f"seen-{self.task_id}-{self.name}"

    def save(self, bundle: Bundle) -> "Slot | None":
        """Save what this tab has made of the draft, and return the slot that it is in: this one or a copy. Saves
        nothing and returns None if another tab has saved something else since."""
        if self.stays:
            return self._copy(bundle)
        notes = _notes()
        place = resources.service().save_draft(self.task_id, self.name, bundle, self.seen)
        if place is None:
            return None
        notes[self._seen_key] = place
        return self

    def _copy(self, bundle: Bundle) -> "Slot":
        """Save the passes in a new copy of this slot, with which the editor goes on."""
        if bundle.digest == original_of(self).digest:
            return self
        taken = {each.slot for each in resources.service().drafts() if each.task_id == self.task_id}
        names = (f"{self.name}.{number}" for number in itertools.count(1))
        notes, document, revision = _notes(), self.document, self.revision
        # another tab may take a name at the same time
        copy = next(
            slot
            for slot in (Slot(self.task_id, name) for name in names if name not in taken)
            if slot.seen is None and slot.save(bundle)
        )
        notes[copy._document_key], notes[copy._revision_key] = document, revision
        # what the editor sends before it hears of the copy belongs to the copy too
        notes[_went_key(self.task_id, self.name, revision)] = copy.name
        self.renew(notes)
        notes[self._document_key] = f"{self.editor} {self.name} after {copy.name}"
        notes[COMING] = (self.task_id, self.name, copy.name)
        return copy

    @property
    def editor(self) -> str:
        """The key of the editor, which all slots of a task share."""
        return key_of("editor", self.task_id)


@dataclass(frozen=True)
class EditorDraft:
    """The open draft: its slot, its revision, and its files as the page drew them.

    theirs: what another tab has saved meanwhile, where this one holds text of its own that is not saved."""

    slot: Slot
    revision: int
    drawn: Bundle
    theirs: SavedDraft | None = None

    @property
    def bundle(self) -> Bundle:
        """The files, with the text that the editor holds now."""
        held = editor.held(self.slot.editor)
        return self.with_text(held) if held is not None and self.owns(held) else self.drawn

    def owns(self, held: EditorMessage) -> bool:
        """Whether the text belongs to this draft at this revision."""
        now = self.place
        return (
            _went(now.task_id, held.slot, held.revision) == now.name and held.revision == self.revision == now.revision
        )

    @property
    def place(self) -> Slot:
        """The slot in which the text is: not the one of which it was drawn, if it went into a copy since."""
        return Slot(self.slot.task_id, _went(self.slot.task_id, self.slot.name, self.revision))

    def with_text(self, held: EditorMessage) -> Bundle:
        def typed(files: Sequence[PassFile]) -> tuple[PassFile, ...]:
            return tuple(replace(file, code=held.files.get(file.name, file.code)) for file in files)

        return edited(self.drawn, passes=typed(self.drawn.passes), helpers=typed(self.drawn.helpers))


def edited(bundle: Bundle, **files: tuple[PassFile, ...]) -> Bundle:
    """Return the bundle with these passes or helpers. If they differ, nobody but the visitor is their author."""
    changed = replace(bundle, author="", **files)
    return bundle if changed.digest == bundle.digest else changed


def references(task: Task) -> dict[str, ReferenceBundle]:
    """Return the reference bundles for this task, or the solution of its lesson, by name."""
    if (lesson := resources.shared().course.of_task(task.id)) is not None:
        return {SOLUTION: ReferenceBundle(SOLUTION, "Solution", lesson.goal, (task.id,), lesson.solution)}
    return {each.name: each for each in resources.shared().reference_bundles() if task.id in each.task_ids}


def slot_titles(task: Task, asked: str | None) -> dict[str, str]:
    """Return the slots of a task with their titles: mine, the references, and stored bundles that were opened.

    asked: a slot that the URL names. Raises UnknownItem if it is neither a slot nor a stored bundle.
    """
    titles = {MINE: "My passes"}
    titles |= {
        name: each.title if name == SOLUTION else f"Reference: {each.title}" for name, each in references(task).items()
    }
    asked_slot = Slot(task.id, asked or MINE)
    for digest in [*st.session_state.get(_opened_key(task), ()), asked_slot.root.name]:
        if digest not in titles:
            resources.service().bundle(digest)
            titles[digest] = f"Stored passes {digest[:8]}"
    copies = {Slot(task.id, each.slot) for each in saved_drafts() if each.task_id == task.id} | {asked_slot}
    for copy in sorted(copies, key=lambda slot: slot.name):
        if copy.root != copy and copy.root.name in titles:
            number = copy.name.rpartition(".")[2]
            titles[copy.name] = f"{titles[copy.root.name]}, edited{'' if number == '1' else f' ({number})'}"
    return titles


def turn_to_copy(task: Task) -> None:
    """Turn to the copy in which the text of the open slot is saved now. Call it before the slots are drawn."""
    task_id, name, copy = _notes().pop(COMING, ("", "", ""))
    if task_id == task.id and st.session_state.get("bundle", links.selected("bundle")) == name:
        st.session_state["bundle"] = copy


def open_stored(task: Task, digest: str) -> None:
    """Open a stored bundle as a slot of its own. Call it from a callback."""
    key = _opened_key(task)
    st.session_state[key] = (*(each for each in st.session_state.get(key, ()) if each != digest), digest)
    # the selectbox of the slots is bound to the URL, and puts the digest there
    st.session_state["bundle"] = digest


def _opened_key(task: Task) -> str:
    return f"opened-{task.id}"


def original_of(slot: Slot) -> Bundle:
    """Return what a slot holds before anybody types in it."""
    return original(resources.shared().corpus.task(slot.task_id), slot.name)


def original(task: Task, name: str) -> Bundle:
    """Return what a slot of a task holds before anybody types in it."""
    name = Slot(task.id, name).root.name
    if name == MINE:
        if not task.subgraphs:
            raise UnknownItem(f"Task {task.id!r} has no subgraphs. Choose another task to write a pass for.")
        if (lesson := resources.shared().course.of_task(task.id)) is not None:
            return lesson.start
        return starting_point(resources.graph(task.subgraphs[0].code))
    reference = references(task).get(name)
    return reference.bundle if reference else resources.service().bundle(name)


def open_draft(task: Task, name: str) -> EditorDraft:
    """Return the draft of this slot: as last saved, or else the original."""
    draft = _draft(task, name)
    # on a busy machine Streamlit may draw what was typed without having called the editor's callback
    typed = draft.theirs is None and draft.bundle.digest != draft.drawn.digest
    with contextlib.suppress(NotAllowed):  # the editor's callback says so
        if typed and draft.slot.save(draft.bundle) != draft.slot:
            st.rerun()
    return draft


def _draft(task: Task, name: str) -> EditorDraft:
    slot = Slot(task.id, name)
    adopt()
    seen, newest = slot.seen, slot.saved()
    if newest is None or newest.place == seen:
        return EditorDraft(slot, slot.revision, newest.bundle if newest else original(task, name))
    before = slot.saved(seen) if seen is not None else None
    draft = EditorDraft(slot, slot.revision, before.bundle if before else original(task, name), newest)
    if draft.bundle.digest not in (draft.drawn.digest, newest.bundle.digest):
        return draft
    # nothing was typed here since, so there is nothing to choose
    slot.see(newest.place)
    slot.renew()
    return EditorDraft(slot, slot.revision, newest.bundle)


def adopt() -> None:
    """Take over drafts of a store from before drafts belonged to somebody: they were everybody's."""
    if "adopted" not in st.session_state:
        st.session_state["adopted"] = True
        resources.service().adopt_drafts()


def saved_drafts() -> tuple[Draft, ...]:
    """Return the visitor's drafts, newest first."""
    adopt()
    return resources.service().drafts()


def draft_links(drafts: Sequence[Draft]) -> None:
    """Draw a link to each draft."""
    for each in drafts:
        page, place = place_of(each.task_id)
        lesson = resources.shared().course.of_task(each.task_id)
        subject = f"Lesson: {lesson.title}" if lesson else each.task_id
        links.link(
            page,
            f"{plain(subject)} · {plain(each.slot)} · {when(each.saved_at)}",
            icon=":material/edit_note:",
            bundle=None if each.slot == MINE else each.slot,
            **place,
        )


def label(task: Task, draft: EditorDraft) -> str:
    """Return the label of a run of this draft: its slot, marked as edited if the passes differ from the original."""
    name = draft.slot.root.name
    return name if name == MINE or draft.bundle.digest == original(task, name).digest else f"{name}, edited"


def draw_editor(
    task: Task,
    draft: EditorDraft,
    *,
    findings: Sequence[Finding],
    operations: Sequence[Mapping[str, str]],
    insert: tuple[int, str] | None,
    on_asked: Callable[[Task, EditorMessage], None],
) -> None:
    """Draw the editor. on_asked: called from a callback with each command of the editor and its text."""
    if draft.theirs is not None:
        _choose_between(draft, draft.theirs)
    if not draft.drawn.files:
        st.info("This bundle has no files. Add a pass under Files.")
        return

    @frame.action
    def ask(task: Task) -> None:
        command = editor.asked(draft.slot.editor)
        if command is not None and command.what is not None:
            on_asked(task, command)

    code_editor(
        draft.bundle,
        key=draft.slot.editor,
        document=draft.slot.document,
        slot=draft.slot.name,
        revision=draft.revision,
        findings=findings,
        operations=operations,
        templates=TEMPLATES,
        insert=insert,
        on_held=save,
        on_asked=ask,
        args=(task,),
    )


@frame.action
def save(task: Task) -> None:
    """Save what the editor holds, so that a reload shows it."""
    held = editor.held(Slot(task.id, MINE).editor)
    if held is not None:
        save_text(task, held)


def save_text(task: Task, held: EditorMessage) -> EditorDraft | None:
    """Save this text in the slot that it was typed for. Returns the draft, or None if other text has replaced it."""
    draft = _draft(task, _went(task.id, held.slot, held.revision))
    if not draft.owns(held):
        return None
    bundle = draft.with_text(held)
    slot = draft.slot.save(bundle) or draft.slot
    return replace(draft, slot=slot, revision=slot.revision, drawn=bundle)


def _went(task_id: str, name: str, revision: int) -> str:
    """Return the copy that the text of a slot went into, of which the editor may not have heard, or else the slot."""
    copy: str = _notes().get(_went_key(task_id, name, revision), name)
    return copy


def _went_key(task_id: str, name: str, revision: int) -> str:
    return f"went-{task_id}-{name}-{revision}"


def _choose_between(draft: EditorDraft, theirs: SavedDraft) -> None:
    """Say that another tab has saved these passes, and let the visitor choose whose text stays."""
    st.warning(
        f"Another tab saved a different text of these passes ({when(theirs.saved_at)}). This one is not saved yet.",
        icon=":material/call_split:",
        title="Two versions of one draft",
    )
    with st.container(horizontal=True):
        st.button("Keep mine", on_click=keep_mine, args=(draft, theirs), icon=":material/save:")
        st.button("Take theirs", on_click=take_theirs, args=(draft, theirs), icon=":material/download:")
        with st.popover("Compare", icon=":material/difference:", width="content"):
            st.caption("What theirs changes in mine.")
            long_code(difference(codes(draft.bundle), codes(theirs.bundle)), language="diff", height=360)


@frame.action
def keep_mine(draft: EditorDraft, theirs: SavedDraft) -> None:
    """Save the text of this tab after that of the other."""
    draft.slot.see(theirs.place)
    if not draft.slot.save(draft.bundle):
        raise BadInput("The other tab has saved again. Compare once more.")


@frame.action
def take_theirs(draft: EditorDraft, theirs: SavedDraft) -> None:
    """Show the other tab's text. The editor takes it as a change that can be undone."""
    draft.slot.see(theirs.place)
    draft.slot.renew()


@frame.action
def start_over(draft: EditorDraft, original: Bundle) -> None:
    _replace(draft, original)


def file_menu(draft: EditorDraft) -> None:
    """Draw the controls that add, remove and reorder the files of a bundle."""
    name_key = f"new-{draft.slot.task_id}-{draft.slot.name}-{draft.revision}"
    st.text_input("Name of a new file", key=name_key, max_chars=outside.LONGEST_NAME, placeholder="fuse_norm.py")
    with st.container(horizontal=True):
        st.button("Add pass", key=f"add-pass-{name_key}", on_click=add_file, args=(draft, name_key, True))
        st.button("Add helper", key=f"add-helper-{name_key}", on_click=add_file, args=(draft, name_key, False))
    for index, file in enumerate(draft.drawn.files):
        is_pass = index < len(draft.drawn.passes)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{f'{index + 1}.' if is_pass else 'helper'} {plain(file.name)}", width="stretch")
            key = f"{name_key}-{file.name}"
            if is_pass and index:
                st.button(
                    "Move up", key=f"up-{key}", icon=":material/arrow_upward:", on_click=move_up, args=(draft, index)
                )
            st.button("Remove", key=f"remove-{key}", icon=":material/delete:", on_click=remove, args=(draft, file.name))


@frame.action
def add_file(draft: EditorDraft, name_key: str, is_pass: bool) -> None:
    name = str(st.session_state.get(name_key) or "").strip().removesuffix(".py")
    if not name.isidentifier():
        raise BadInput(f"{name!r} is not a file name. Name the file like a Python module, such as fuse_norm.py.")
    bundle = draft.bundle
    file = PassFile(f"{name}.py", TEMPLATES[0 if is_pass else -1].code)
    if any(each.name == file.name for each in bundle.files):
        raise BadInput(f"This bundle already has a file {file.name}. Choose another name.")
    passes, helpers = bundle.passes, bundle.helpers
    _replace(draft, edited(bundle, passes=(*passes, file)) if is_pass else edited(bundle, helpers=(*helpers, file)))


@frame.action
def remove(draft: EditorDraft, name: str) -> None:
    bundle = draft.bundle
    _replace(
        draft,
        edited(
            bundle,
            passes=tuple(file for file in bundle.passes if file.name != name),
            helpers=tuple(file for file in bundle.helpers if file.name != name),
        ),
    )


@frame.action
def move_up(draft: EditorDraft, index: int) -> None:
    passes = list(draft.bundle.passes)
    passes[index - 1], passes[index] = passes[index], passes[index - 1]
    _replace(draft, edited(draft.bundle, passes=tuple(passes)))


@frame.action
def apply_lines(draft: EditorDraft, name: str, changes: Sequence[LineChange]) -> None:
    """Change lines of a pass. The editor shows it as a change that can be undone."""
    bundle = draft.bundle
    file = next((each for each in bundle.passes if each.name == f"{name}.py"), None)
    code = patched(file.code, changes) if file else None
    if file is None or code is None:
        raise BadInput(f"{name} has changed since it was judged, so this edit no longer applies. Check it again.")
    passes = tuple(replace(each, code=code) if each is file else each for each in bundle.passes)
    changed = edited(bundle, passes=passes)
    _replace(draft, changed)
    lines = "; ".join(f"line {each.line}: {each.old.strip()} → {each.new.strip()}" for each in changes)
    st.session_state[APPLIED] = (changed.digest, f"Changed {file.name}, {lines}. Ctrl+Z in the editor undoes it.")


def _replace(draft: EditorDraft, bundle: Bundle) -> None:
    notes = _notes()
    slot = draft.place.save(bundle)
    if slot is None:
        raise BadInput("Another tab has changed these passes. Choose above whose text stays, then do this again.")
    slot.renew(notes)
