"""What is judged: bundles of passes, and the remarks of the static rules on them."""

from dataclasses import dataclass
from functools import cached_property

from passnet_core.records.codec import digest_of


@dataclass(frozen=True)
class PassFile:
    """One Python file of a bundle; name without folder, with ".py"."""

    name: str
    code: str


@dataclass(frozen=True)
class Bundle:
    """An ordered list of passes with their helper modules. The digest covers code and order, not the author."""

    passes: tuple[PassFile, ...]
    helpers: tuple[PassFile, ...] = ()
    author: str = ""

    @cached_property
    def digest(self) -> str:
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
    """One remark of a static rule. line and column count from 1. fatal: the bundle is rejected."""

    file: str
    line: int
    column: int
    rule: str
    message: str
    remedy: str
    fatal: bool = True
