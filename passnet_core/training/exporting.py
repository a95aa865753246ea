"""Exports of conversations: from those that were chosen to the rows of a file."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from passnet_core.corpus.shapes import Shapes
from passnet_core.errors import BadInput
from passnet_core.records import EvalSpec, Task
from passnet_core.records.trajectories import Trajectory
from passnet_core.training.chat_rows import axolotl_row, openai_row, trl_row, trl_turn
from passnet_core.training.examples import (
    TrainingExample,
    by_turns,
    example_of,
    one_call_per_turn,
    unmasked,
    until_learnt,
)
from passnet_core.training.llamafactory import llamafactory_row, register
from passnet_core.training.preferences import pair_row, pairs
from passnet_core.training.prompts import CallProtocol, prompt_row, prompts, prompts_for
from passnet_core.training.verl import verl_row, write_parquet

Row = dict[str, Any]
PARQUET = ".parquet"


class Format(StrEnum):
    """Who reads the file, or what is in it."""

    OPENAI = "openai"
    TRL = "trl"
    AXOLOTL = "axolotl"
    LLAMAFACTORY = "llamafactory"
    VERL = "verl"
    PREFERENCES = "preferences"
    PROMPTS = "prompts"


class Rows(StrEnum):
    """What a row is. TURNS: the conversation up to an answer, of which only that answer is to be learnt."""

    CONVERSATIONS = "conversations"
    TURNS = "turns"


@dataclass(frozen=True)
class ChatForm:
    """How a format writes examples. rows: by default. masks: whether a row can leave single answers unlearnt.
    turn: writes an example of which only the last answer is to be learnt; None: the format has no way to say so."""

    rows: Rows
    masks: bool
    whole: Callable[[TrainingExample], Row]
    turn: Callable[[TrainingExample], Row] | None


CHAT_FORMS: Mapping[Format, ChatForm] = {
    Format.OPENAI: ChatForm(Rows.CONVERSATIONS, True, openai_row, openai_row),
    Format.TRL: ChatForm(Rows.TURNS, False, trl_row, trl_turn),
    Format.AXOLOTL: ChatForm(Rows.CONVERSATIONS, True, axolotl_row, axolotl_row),
    Format.LLAMAFACTORY: ChatForm(Rows.TURNS, False, llamafactory_row, llamafactory_row),
    Format.VERL: ChatForm(Rows.CONVERSATIONS, False, verl_row, None),
}
"""The formats for supervised training."""


@dataclass(frozen=True)
class ExportLayout:
    """How to write what was chosen. rows: None for the format's own. masks: whether answers that are not worth learning
    are kept out of the loss. at_least: as in ExportChoice. count: counts the tokens of a row, which may have at most
    most_tokens. spec, protocol, shapes: for prompts: how the bundles for `tasks`, which have no conversation, are
    judged, how a model is to call tools, and what is known of the values inside subgraphs."""

    format: Format
    rows: Rows | None = None
    one_call_per_turn: bool = False
    masks: bool = True
    at_least: float = 1.0
    count: Callable[[Row], int] | None = None
    most_tokens: int | None = None
    spec: EvalSpec | None = None
    protocol: CallProtocol = CallProtocol.TEXT
    shapes: Shapes = field(default_factory=dict)

    def fitted(self, row: Row) -> Row | None:
        """The row, with the tokens that are its own where they are counted; None if it has too many."""
        if self.count is None:
            return row
        tokens = self.count(row)
        if self.most_tokens is not None and tokens > self.most_tokens:
            return None
        # what stood there are those of all requests of the conversation
        return {**row, "tokens": tokens}


@dataclass
class Exported:
    """The rows of a file. learnt, masked: answers in the rows that are to be learnt, and that are not. left_out: the
    number of conversations or rows that were not written, by the reason."""

    rows: list[Row] = field(default_factory=list)
    conversations: int = 0
    learnt: int = 0
    masked: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


TOO_LONG = "it has more tokens than --most-tokens allows"
NOTHING_TO_LEARN = "no answer in it is worth learning"
NO_MASKS = "it has answers not worth learning, which this format cannot mask in a conversation"
"""Why something is left out: each completes a sentence."""


def unit(layout: ExportLayout) -> str:
    """What a row is, in the plural."""
    form = CHAT_FORMS.get(layout.format)
    if form is None:
        return "pairs" if layout.format is Format.PREFERENCES else "prompts"
    return (layout.rows or form.rows).value


def exported(found: Sequence[Trajectory], layout: ExportLayout, tasks: Sequence[Task] = ()) -> Exported:
    """Write conversations as rows. tasks: for prompts, tasks that get one without a conversation.

    Raises BadInput if the format cannot have the rows that are asked for."""
    made = Exported(conversations=len(found))
    if layout.format is Format.PREFERENCES:
        made.rows = [pair_row(pair) for pair in pairs(found, layout.at_least)]
    elif layout.format is Format.PROMPTS:
        known = {each.opening.task_id for each in found}
        others = (task for task in tasks if task.id not in known)
        more = prompts_for(others, layout.spec or EvalSpec(), layout.protocol, layout.shapes)
        told = (*prompts(found, layout.protocol), *more)
        made.rows = [prompt_row(prompt, number) for number, prompt in enumerate(told)]
    else:
        form = CHAT_FORMS[layout.format]
        for trajectory in found:
            _add(made, trajectory, layout, form)
        return made
    fitting = [fitted for row in made.rows if (fitted := layout.fitted(row)) is not None]
    if left := len(made.rows) - len(fitting):
        made.left_out[TOO_LONG] = left
    made.rows = fitting
    return made


def _add(made: Exported, trajectory: Trajectory, layout: ExportLayout, form: ChatForm) -> None:
    rows = layout.rows or form.rows
    if rows is Rows.TURNS and form.turn is None:
        raise BadInput(
            f"{layout.format.value} trains on every answer of a row, so a row cannot be a turn. Leave out --rows turns."
        )
    example = example_of(trajectory, layout.at_least)
    if not layout.masks:
        example = unmasked(example)
    if layout.one_call_per_turn:
        example = one_call_per_turn(example)
    example = until_learnt(example)
    if not example.learnt:
        made.left_out[NOTHING_TO_LEARN] += 1
        return
    if rows is Rows.CONVERSATIONS and example.masked and not form.masks:
        made.left_out[NO_MASKS] += 1
        return
    write = form.turn if rows is Rows.TURNS and form.turn else form.whole
    for each in by_turns(example) if rows is Rows.TURNS else (example,):
        row = layout.fitted(write(each))
        if row is not None:
            made.rows.append(row)
            made.learnt += each.learnt
            made.masked += each.masked
        else:
            made.left_out[TOO_LONG] += 1


def write_rows(path: Path, rows: Sequence[Row], format: Format) -> None:
    """Write rows as Parquet if the file's name says so, and else as JSONL. Raises BadInput if the file cannot be
    written, or if the format is read from the other kind only."""
    parquet = path.suffix == PARQUET
    if parquet != (format is Format.VERL) and format is not Format.PROMPTS:
        wanted = PARQUET if format is Format.VERL else ".jsonl"
        raise BadInput(f"{format.value} reads {wanted} files. Name one with --out, not {path.name!r}.")
    try:
        if parquet:
            write_parquet(path, rows)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        if format is Format.LLAMAFACTORY:
            register(path, path.stem)
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}. Name another file.") from error
