"""Bundles of passes, and the findings of the static rules on them."""

from dataclasses import dataclass
from functools import cached_property

from passnet_core.records.codec import digest_of


@dataclass(frozen=True)
class PassFile:
    """One Python file of a bundle. name: with ".py", without a folder."""

    name: str
    code: str


@dataclass(frozen=True)
class Bundle:
    """An ordered list of passes, and the helper modules that they import. author: empty if unknown."""

    passes: tuple[PassFile, ...]
    helpers: tuple[PassFile, ...] = ()
    author: str = ""

    @cached_property
    def digest(self) -> str:
        """The bundle's identity: it covers code, file names and the order of the passes, not the author."""
        return digest_of(
            {
                "passes": [[file.name, file.code] for file in self.passes],
                "helpers": sorted([file.name, file.code] for file in self.helpers),
            }
        )

    @property
    def files(self) -> tuple[PassFile, ...]:
        return self.passes + self.helpers


@dataclass(frozen=True)
class Finding:
    """One objection of a static rule to a line of a bundle.
    line, column: from 1. rule: the rule's id. remedy: what to write instead. fatal: whether the bundle is rejected."""

    file: str
    line: int
    column: int
    rule: str
    message: str
    remedy: str
    fatal: bool = True
