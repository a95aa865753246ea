"""Rows for LLaMA-Factory, which skips an example whose messages are not in the order it expects, with a line in its log
at most."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records.trajectories import Message, Role
from passnet_core.training.chat_rows import facts, schemas
from passnet_core.training.examples import TrainingExample

INFO = "dataset_info.json"
COLUMNS = {"messages": "conversations", "system": "system", "tools": "tools"}
BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"
"""What LLaMA-Factory puts between the results of several calls, which it takes as one message."""


def llamafactory_row(example: TrainingExample) -> dict[str, Any]:
    """A row in the layout that LLaMA-Factory calls ShareGPT: what the person, the program and the tools say at odd
    places, what the model says at even ones, the system's words in a column of their own.

    Calls are JSON text in which the arguments are objects, between tags, so that the words before them are kept."""
    messages = example.messages
    system = messages[0].text if messages and messages[0].role is Role.SYSTEM else ""
    tools = json.dumps(schemas(example.tools), ensure_ascii=False) if example.tools else ""
    turns = _turns(messages[1:] if system else messages)
    return {"conversations": turns, "system": system, "tools": tools, **facts(example)}


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = []
    for message in messages:
        if message.role is Role.MODEL:
            turns.append({"from": "function_call" if message.calls else "gpt", "value": _said(message)})
        elif turns and turns[-1]["from"] == "observation":
            turns[-1]["value"] += (BETWEEN_RESULTS if message.role is Role.TOOL else "\n\n") + message.text
        else:
            turns.append({"from": "observation" if message.role is Role.TOOL else "human", "value": message.text})
    return turns


def _said(message: Message) -> str:
    thought = f"<think>\n{message.reasoning.strip()}\n</think>\n\n" if message.reasoning.strip() else ""
    if not message.calls:
        return thought + message.text
    calls = [{"name": call.name, "arguments": json.loads(call.arguments)} for call in message.calls]
    words = f"{message.text}\n" if message.text.strip() else ""
    return f"{thought}{words}<tool_call>{json.dumps(calls, ensure_ascii=False)}</tool_call>"


def register(file: Path, name: str) -> Path:
    """Enter a file of rows as the data set `name` in the dataset_info.json beside it, and return that file's path.

    Other entries stay. Raises BadInput if the file cannot be read or written."""
    info = file.with_name(INFO)
    entry = {"file_name": file.name, "formatting": "sharegpt", "columns": COLUMNS}
    try:
        known = outside.from_json_text(outside.file_bytes(info)) if info.exists() else {}
        info.write_text(json.dumps({**known, name: entry}, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{info} cannot be extended: {error}. Name another folder with --out.") from error
    return info
