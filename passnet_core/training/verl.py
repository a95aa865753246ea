"""Rows for verl, which reads Parquet: every row of a table has the same fields, at every depth.

A call's arguments, and a tool's parameters, would therefore get the fields of all others, empty, and a template would
show them to the model. So both are written out as text here, as Hermes and Qwen write them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records.trajectories import Message, OfferedTool, Role
from passnet_core.training.chat_rows import facts, schemas
from passnet_core.training.examples import TrainingExample

TOOLS_IN_TEXT = """\n\nThese tools can be called, each described by a JSON schema:

<tools>
{tools}
</tools>

To call one, write a JSON object with its name and its arguments between tags:

<tool_call>
{{"name": …, "arguments": …}}
</tool_call>"""


def verl_row(example: TrainingExample) -> dict[str, Any]:
    """A row for verl's MultiTurnSFTDataset: only words, of the system, the person and the model in turns."""
    return {"messages": in_words(example.messages, example.tools), **facts(example)}


def in_words(messages: Sequence[Message], tools: Sequence[OfferedTool]) -> list[dict[str, str]]:
    """The messages with tools, calls and results as text."""
    forms: list[dict[str, str]] = []
    for message in messages:
        words = message.text
        if message.role is Role.TOOL:
            words = f"<tool_response>\n{message.text}\n</tool_response>"
            if forms and forms[-1]["role"] == "user":
                forms[-1]["content"] += f"\n{words}"
                continue
        for call in message.calls:
            form = {"name": call.name, "arguments": json.loads(call.arguments)}
            words += f"\n<tool_call>\n{json.dumps(form, ensure_ascii=False)}\n</tool_call>"
        role = Role.USER if message.role is Role.TOOL else message.role
        forms.append({"role": role.value, "content": words.lstrip("\n") if message.calls else words})
    if tools and forms:
        listed = "\n".join(json.dumps(each, ensure_ascii=False) for each in schemas(tools))
        if forms[0]["role"] != Role.SYSTEM.value:
            forms.insert(0, {"role": Role.SYSTEM.value, "content": ""})
        forms[0]["content"] = (forms[0]["content"] + TOOLS_IN_TEXT.format(tools=listed)).lstrip("\n")
    return forms


def write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as a Parquet file. Raises BadInput if pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise BadInput(
            "Parquet files need the package pyarrow. Install it with: pip install pyarrow, or name a .jsonl file."
        ) from error
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
