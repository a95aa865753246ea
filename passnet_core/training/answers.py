"""Bundles from the text of a model's answer, for rewards of answers that no conversation led to."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records import Bundle
from passnet_core.solvers.llm.files import FILE_NAME, IS_PASS, BundleFiles, ToolProblem
from passnet_core.solvers.llm.tagged import BLOCK
from passnet_core.solvers.llm.tools import written_in

NAMED = re.compile(r"\s*#\s*(?:file(?:name)?:?\s*)?([A-Za-z_][A-Za-z0-9_]*\.py)\s*$", re.IGNORECASE | re.MULTILINE)
"""A first line of a code block that names its file."""
LONGEST_ANSWER = 400_000
"""In characters."""
THINKING, THOUGHT = "<think>", "</think>"


def bundle_in(text: str, author: str = "") -> Bundle:
    """The bundle that an answer writes. Raises BadInput, which says what is missing, if it has no pass.

    What a model thinks, up to the last </think>, is not its answer. If the answer has calls in plain text ("###
    write_file name.py" and a code block) or as JSON between <tool_call> and </tool_call>, what they do to the files
    counts. Else every code block is a file, named by a first line such as "# fused.py" or numbered. Else the whole text
    is one."""
    return _bundle_of([_said(text)], author)


def bundle_in_messages(messages: Sequence[Mapping[str, Any]], author: str = "") -> Bundle:
    """The bundle that a model's messages in OpenAI's chat format write: their texts, read as bundle_in() reads one, and
    their tool calls do to the files what they do in a conversation. What others say is left out. Raises BadInput."""
    parts = []
    for each in messages:
        if each["role"] != "assistant":
            continue
        content = each.get("content") or ""
        blocks = [{"text": content}] if isinstance(content, str) else content
        parts.append(_said("\n\n".join(str(block.get("text") or "") for block in blocks)))
        for call in each.get("tool_calls") or ():
            # the code in it may hold the words that would end it
            written = json.dumps(call.get("function", call)).replace("</", "<\\/")
            parts.append(f"<tool_call>{written}</tool_call>")
    return _bundle_of(parts, author)


def _said(text: str) -> str:
    """What a model says in a text after it has thought. Raises BadInput if it still thinks at the end."""
    said = text.replace("\r\n", "\n").rpartition(THOUGHT)[2]
    if THINKING in said:
        raise BadInput("The answer ends while the model thinks: its last <think> is not closed.")
    return said


def _bundle_of(parts: Sequence[str], author: str) -> Bundle:
    text = "\n\n".join(parts)
    if len(text) > LONGEST_ANSWER:
        raise BadInput(f"The answer has {len(text):,} characters; at most {LONGEST_ANSWER:,} are read.")
    files = written_in(text)
    try:
        if not files.codes:
            blocks = [match[2] for match in BLOCK.finditer(text)]
            files = _numbered(blocks if any(map(IS_PASS.search, blocks)) else [text])
        if not any(map(IS_PASS.search, files.codes.values())):
            raise BadInput("The answer has no pass: no code in it defines pattern().")
        return files.bundle(author)
    except ToolProblem as problem:
        raise BadInput(str(problem)) from problem


def _numbered(codes: Sequence[str]) -> BundleFiles:
    files = BundleFiles()
    for number, code in enumerate(codes, 1):
        files.write(_name(code, number), code)
    return files


def _name(code: str, number: int) -> str:
    first = NAMED.match(code.partition("\n")[0])
    return first[1] if first and FILE_NAME.fullmatch(first[1]) else f"pass_{number}.py"
