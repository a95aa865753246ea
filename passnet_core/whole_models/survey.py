"""What the program is asked that looks for bundles in captured graphs, and what it answers. Loads no torch."""

from dataclasses import dataclass

from passnet_core.records import Bundle

Places = tuple[tuple[str, ...], ...]
"""The matches of a pass in a graph: of each, the names of the nodes."""


@dataclass(frozen=True)
class SurveyQuestion:
    """Where in these graphs, given by their code, would each of the bundles' passes be applied?"""

    codes: tuple[str, ...]
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True)
class FoundPass:
    """Where a pass is applied. name: its file's, without ".py". places: for each graph."""

    name: str
    places: tuple[Places, ...]

    @property
    def count(self) -> int:
        return sum(map(len, self.places))


@dataclass(frozen=True)
class FoundBundle:
    """The passes of a bundle in their order, each applied after those before it. problem: why it could not be used."""

    digest: str
    passes: tuple[FoundPass, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class SurveyAnswer:
    """For each bundle of the question, in its order."""

    bundles: tuple[FoundBundle, ...]
