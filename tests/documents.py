"""What the documents tell their readers to type."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    \S.*\n(?:^    .*\n)*)", re.MULTILINE)


def document(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def blocks(text: str, *languages: str) -> list[str]:
    """A document's fenced code blocks in these languages; without a name they are what a shell gets and prints."""
    return [block for named, block in FENCED.findall(text) if named in (languages or ("",))]


def shell_blocks(text: str) -> list[str]:
    """The blocks that a shell gets, fenced or indented, in their order within each kind."""
    indented = INDENTED.findall(FENCED.sub("", text))
    return [*blocks(text, "", "bash"), *(re.sub("^    ", "", block, flags=re.MULTILINE) for block in indented)]


def commands_in(block: str) -> list[str]:
    """The commands of a block, one a line, without the comments beside them."""
    lines = block.replace("\\\n", " ").splitlines()
    told = [" ".join(re.split(r"\s+#", line.removeprefix("$ "))[0].split()) for line in lines]
    return [each for each in told if each]


def spans(text: str) -> list[str]:
    """The code spans of a document, outside its blocks."""
    return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", FENCED.sub("", text))]
