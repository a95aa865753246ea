"""Count the tokens of examples with the tokenizer of the model to be trained."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput

FILE = "tokenizer.json"
CONTENT = ("messages", "conversations", "system", "prompt", "completion", "tools")
CHOICES = ("chosen", "rejected")
"""The columns of rows that a model reads or writes."""


class TokenCounter:
    """Counts the words of messages, their calls and the tools, as JSON. A chat template adds a few tokens a message."""

    def __init__(self, place: Path) -> None:
        """place: a tokenizer.json, or a folder that contains one. Raises BadInput if it cannot be read, or if the
        package tokenizers is not installed."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise BadInput(
                "Counting tokens needs the package tokenizers. Install it with: pip install tokenizers"
            ) from error
        file = place / FILE if place.is_dir() else place
        try:
            self._tokenizer = Tokenizer.from_file(str(file))
        # the package raises Exception itself, for a missing file as well as for a damaged one
        except Exception as error:
            raise BadInput(f"{file} is not a readable tokenizer: {error}. Name a {FILE} or its folder.") from error

    def count(self, row: Mapping[str, Any]) -> int:
        """The tokens of a row's messages, calls and tools; of two answers that a row has to choose from, the longer."""
        whole = sum(self._of(row.get(name)) for name in CONTENT)
        return whole + max(self._of(row.get(name)) for name in CHOICES)

    def _of(self, part: Any) -> int:
        return sum(len(self._tokenizer.encode(text, add_special_tokens=False).ids) for text in _texts(part))


def _texts(row: Any) -> Sequence[str]:
    if isinstance(row, str):
        return [row]
    if isinstance(row, dict):
        if set(row) == {"name", "arguments"}:
            return [json.dumps(row)]
        return [text for each in row.values() for text in _texts(each)]
    return [text for each in row for text in _texts(each)] if isinstance(row, list) else []
