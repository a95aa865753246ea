"""Files of JSON lines, compressed, whose first line says what the others are, and how many of them there should be."""

import io
import json
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.errors import BadInput

DAMAGED = (BadInput, OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError)
"""What a damaged file raises, also where its lines are taken apart."""


@dataclass(frozen=True)
class HeadedLines:
    """A format. contents: what such a file is of, in the plural. counted: what it has a line for."""

    contents: str
    version: int
    counted: str

    @property
    def format(self) -> str:
        return f"passnet-{self.contents}"

    def write(self, path: Path, lines: Iterable[Any], preset: int | None = None) -> None:
        """Write a file. The same lines give the same bytes. preset: of lzma."""
        listed = list(lines)
        head = {"format": self.format, "version": self.version, self.counted: len(listed)}
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (head, *listed))
        path.write_bytes(lzma.compress(text.encode(), preset=preset))

    def read(self, path: Path) -> tuple[Any, list[Any]]:
        """How many lines there should be, and those that there are. Raises one of DAMAGED."""
        with lzma.open(io.BytesIO(outside.file_bytes(path)), "rt", encoding="utf-8") as file:
            head, *lines = map(outside.from_json_text, file)
        if (head["format"], head["version"]) != (self.format, self.version):
            raise BadInput(f"it is no file of {self.contents} of version {self.version}")
        return head[self.counted], lines
