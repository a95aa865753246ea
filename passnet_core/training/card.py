"""The card of an exported data set: a README.md that says what is in its files, and how they were made.

It has only what was counted or given: no figure in it is an estimate."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import Stage
from passnet_core.records.trajectories import Trajectory
from passnet_core.training.exporting import Exported, Format

CARD = "README.md"
MARK = "<!-- written by trajectories export -->"
"""Tells a card, which may be replaced, from a file that somebody wrote."""
UNKNOWN = "unknown"
"""The licence of a data set for which nobody has named one."""

HINTS: Mapping[Format, str] = {
    Format.TRL: "Each row ends with one answer, on which alone the loss falls: TRL masks the prompt by itself.",
    Format.AXOLOTL: "Set `type: chat_template`, `field_messages: messages` and `message_field_training: train`.",
    Format.LLAMAFACTORY: "Each row ends with the one answer to learn: set `mask_history: true`.",
    Format.PREFERENCES: "In each row, the chosen and the rejected answer follow the same messages.",
}
"""What whoever trains has to know of a file with the format's own rows."""


def card(
    parts: Mapping[str, tuple[Sequence[Trajectory], Exported]],
    *,
    format: Format,
    hint: str,
    filters: Sequence[str],
    version: str,
    date: str,
    license: str,
) -> str:
    """The text of a card. parts: for each file, by its name, the conversations behind it and its rows; the first is for
    training, a second one for validation. filters: a sentence each. version: of this program. date: of the export."""
    names = ("train", "validation")
    files = [f"      - split: {split}\n        path: {name}" for split, name in zip(names, parts, strict=False)]
    found = [each for conversations, _ in parts.values() for each in conversations]
    head = ["---", f"license: {license}", "configs:", "  - config_name: default", "    data_files:", *files, "---", ""]
    rows = [
        f"| {name} | {len(made.rows):,} | {len(conversations):,} | {len(_tasks(conversations)):,} | {_answers(made)} |"
        for name, (conversations, made) in parts.items()
    ]
    lines = [
        *head,
        "# Conversations about compiler passes",
        "",
        MARK,
        "",
        "In these conversations, a language model writes passes for PyTorch's FX graphs with Triton kernels, and a",
        "judge says what is wrong with them.",
        "",
        f"Written by PassNet Playground {version} on {date}, in the format `{format.value}`.",
        *(["", hint] if hint else []),
        "",
        "| file | rows | conversations | tasks | answers to learn, masked |",
        "| --- | ---: | ---: | ---: | --- |",
        *rows,
        "",
        "## Where they come from",
        "",
        f"- Models: {_counted(each.opening.model for each in found)}.",
        f"- Devices of the judge: {_counted(each.opening.device or 'not recorded' for each in found)}.",
        f"- Stages: {_counted(each.opening.spec.stage.value for each in found)}.",
        f"- Clock versions of the times: {_clocks(found)}.",
        f"- Prompts, by digest: {_counted(each.opening.prompts for each in found)}.",
        f"- Begun: {_dates(found)}.",
        "",
        "## What was chosen",
        "",
        *(f"- {each}" for each in filters),
        *(f"- {line}" for line in _left_out(made for _, made in parts.values())),
        "",
    ]
    return "\n".join(lines)


def write_card(folder: Path, text: str) -> Path:
    """Write the card into the folder, and return its path. Raises BadInput if another README.md is there."""
    file = folder / CARD
    try:
        if file.exists() and MARK not in outside.file_text(file):
            raise BadInput(
                f"{file} is no data set card. Name a file in another folder with --out, or leave out --card."
            )
        file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be written: {error}.") from error
    return file


def _tasks(found: Sequence[Trajectory]) -> set[str]:
    return {each.opening.task_id for each in found}


def _answers(made: Exported) -> str:
    return f"{made.learnt:,}, {made.masked:,}" if made.learnt or made.masked else "does not apply"


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{value} ({count:,})" for value, count in sorted(Counter(values).items())) or "none"


def _clocks(found: Sequence[Trajectory]) -> str:
    timed = [each for each in found if each.opening.spec.stage is Stage.MEASURE]
    return _counted(str(each.opening.clock_version) for each in timed) if timed else "nothing was timed"


def _dates(found: Sequence[Trajectory]) -> str:
    dates = sorted(each.opening.started_at[:10] for each in found)
    return "none" if not dates else dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"


def _left_out(all_made: Iterable[Exported]) -> list[str]:
    total: Counter[str] = Counter()
    for made in all_made:
        total += made.left_out
    return [f"Left out: {count:,}, as {reason}." for reason, count in sorted(total.items())]
