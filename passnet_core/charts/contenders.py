"""One look for one contender: its colour, shape and dashes are the same in every chart, whoever else is in it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from passnet_core.records import Baseline, Contender


class ContenderKind(StrEnum):
    """Whose code is timed."""

    EAGER = "eager"
    INDUCTOR = "TorchInductor"
    EAGER_ROUNDING = "TorchInductor with eager's rounding"
    RULES = "rules bundles"
    REFERENCE = "reference bundles"
    MODEL = "a language model's bundles"
    OWN = "own passes"
    SUBMISSION = "a submission"


@dataclass(frozen=True)
class ContenderLook:
    """How a contender is drawn. shape: of Vega's symbols. dash: lengths of strokes and gaps in pixels."""

    colour: str
    shape: str
    dash: tuple[int, ...]


CONTENDER_LOOKS: Mapping[ContenderKind, ContenderLook] = {
    ContenderKind.EAGER: ContenderLook("#7f7f7f", "circle", (3, 3)),
    ContenderKind.INDUCTOR: ContenderLook("#0072b2", "square", (1, 0)),
    ContenderKind.EAGER_ROUNDING: ContenderLook("#3d9bd8", "diamond", (6, 2)),
    ContenderKind.RULES: ContenderLook("#009e73", "triangle-up", (10, 3)),
    ContenderKind.REFERENCE: ContenderLook("#cc79a7", "triangle-right", (2, 2)),
    ContenderKind.MODEL: ContenderLook("#b34700", "cross", (8, 2, 2, 2)),
    ContenderKind.OWN: ContenderLook("#c88400", "triangle-down", (4, 4)),
    ContenderKind.SUBMISSION: ContenderLook("#7d5fd3", "triangle-left", (6, 2, 2, 2)),
}
"""Okabe and Ito's colours, which colour-blind readers can tell apart, some of them darker: each has a contrast of 3:1
with a white and with a dark page."""
MORE_LOOKS: Sequence[tuple[str, tuple[int, ...]]] = (
    ("triangle-left", (1, 3)),
    ("cross", (12, 4)),
    ("diamond", (6, 2, 1, 2)),
    ("square", (3, 1)),
    ("triangle-up", (16, 4)),
    ("circle", (5, 5)),
    ("triangle-right", (2, 6)),
)
"""Shapes and dashes of further contenders of one kind."""
BASELINE_KINDS: Mapping[Baseline, ContenderKind] = {
    Baseline.INDUCTOR: ContenderKind.INDUCTOR,
    Baseline.EAGER_ROUNDING: ContenderKind.EAGER_ROUNDING,
}
SUBMITTED = "submission"
"""The author that stands for those who have submitted bundles to the leaderboard."""
AUTHOR_KINDS: Mapping[str, ContenderKind] = {
    "": ContenderKind.OWN,
    "rules": ContenderKind.RULES,
    "reference": ContenderKind.REFERENCE,
    SUBMITTED: ContenderKind.SUBMISSION,
}


def kind_of(author: str, baseline: Baseline | None = None) -> ContenderKind:
    """Return whose code this is. author: of a bundle; any other than those of AUTHOR_KINDS is a language model."""
    return BASELINE_KINDS[baseline] if baseline else AUTHOR_KINDS.get(author, ContenderKind.MODEL)


def run_looks(baseline: Baseline = Baseline.INDUCTOR, author: str = "") -> Mapping[Contender, ContenderLook]:
    """Return the looks of the contenders of one run. author: of the run's bundle."""
    kinds = {
        Contender.EAGER: ContenderKind.EAGER,
        Contender.BASELINE: kind_of("", baseline),
        Contender.PASSES: kind_of(author),
    }
    return {contender: CONTENDER_LOOKS[kind] for contender, kind in kinds.items()}


def looks(contenders: Iterable[tuple[str, ContenderKind]]) -> dict[str, ContenderLook]:
    """Return the look of each contender by name. Of several of one kind, which share its colour, the second and later
    ones, by name, have other shapes and dashes."""
    met: Counter[ContenderKind] = Counter()
    found = {}
    for name, kind in sorted(contenders):
        look, place = CONTENDER_LOOKS[kind], met[kind] - 1
        if met[kind]:
            shape, dash = MORE_LOOKS[place % len(MORE_LOOKS)]
            look = replace(look, shape=shape, dash=dash)
        found[name] = look
        met[kind] += 1
    return found
