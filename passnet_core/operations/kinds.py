"""What is known of operations by their names, besides what torch says itself: one place for all who ask.

kinds.toml is written by hand. A name in it is what its readers call an operation: most often the label that
graphs.vocabulary has for it, or the last part of its target."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

KINDS = Path(__file__).with_name("kinds.toml")


@cache
def _kinds() -> Mapping[str, Any]:
    return tomllib.loads(KINDS.read_text(encoding="utf-8"))


@cache
def named(kind: str) -> frozenset[str]:
    """The operations of a kind. Raises KeyError if there is no such kind."""
    words: list[str] = _kinds()[kind].split()
    others = (named(each.removeprefix("@")) for each in words if each.startswith("@"))
    return frozenset(each for each in words if not each.startswith("@")).union(*others)


def mapping(kind: str) -> Mapping[str, Any]:
    """What is known of each operation of a kind: words, numbers, or one text. Raises KeyError if there is no such
    kind."""
    found: Mapping[str, Any] = _kinds()[kind]
    return found


def several(kind: str) -> Mapping[str, tuple[str, ...]]:
    """The words that are known of each operation of a kind. Raises KeyError if there is no such kind."""
    return {name: tuple(words.split()) for name, words in mapping(kind).items()}
