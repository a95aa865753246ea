"""Bundles from the text of a model's answer, for rewards of answers that no conversation led to."""

import re
from collections.abc import Sequence

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
    if len(text) > LONGEST_ANSWER:
        raise BadInput(f"The answer has {len(text):,} characters; at most {LONGEST_ANSWER:,} are read.")
    text = text.replace("\r\n", "\n").rpartition(THOUGHT)[2]
    if THINKING in text:
        raise BadInput("The answer ends while the model thinks: its last <think> is not closed.")
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
