"""A contender has one look, whoever else is drawn, and colour-blind readers can tell contenders apart."""

from itertools import combinations

import numpy as np
import pytest

from passnet_core.charts.contenders import CONTENDER_LOOKS, ContenderKind, kind_of, looks, run_looks
from passnet_core.records import Baseline, Contender

PAGES = ("#ffffff", "#11161d")
"""The backgrounds of the themes."""
SEEN_BY = {
    "everybody": np.eye(3),
    "deuteranopes": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "protanopes": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
"""How linear RGB is seen (Machado, Oliveira and Fernandes 2009)."""
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    dark, light = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(XYZ @ np.clip(rgb, 0, 1) / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_every_kind_has_a_colour_a_shape_and_dashes_of_its_own() -> None:
    assert set(CONTENDER_LOOKS) == set(ContenderKind)
    for field in ("colour", "shape", "dash"):
        alike = [getattr(each, field) for kind, each in CONTENDER_LOOKS.items() if kind is not ContenderKind.EAGER]
        assert len(set(alike)) == len(alike), field


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_stands_out_from_the_page(page: str) -> None:
    assert {kind: ratio for kind, each in CONTENDER_LOOKS.items() if (ratio := contrast(each.colour, page)) < 3} == {}


@pytest.mark.parametrize("matrix", SEEN_BY.values(), ids=SEEN_BY)
def test_colours_can_be_told_apart(matrix: np.ndarray) -> None:
    seen = {kind: lab(matrix @ linear(each.colour)) for kind, each in CONTENDER_LOOKS.items()}
    distances = {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(seen, 2)}
    assert min(distances.values()) > 9, min(distances, key=distances.__getitem__)


def test_a_look_does_not_depend_on_who_else_is_there() -> None:
    everybody = looks((kind.value, kind) for kind in ContenderKind)
    for kind in ContenderKind:
        assert looks([(kind.value, kind)]) == {kind.value: everybody[kind.value]}


def test_several_of_a_kind_share_their_colour_and_differ_in_shape_and_dashes() -> None:
    found = list(looks((name, ContenderKind.OWN) for name in "abc").values())
    assert {each.colour for each in found} == {CONTENDER_LOOKS[ContenderKind.OWN].colour}
    assert len({each.shape for each in found}) == len({each.dash for each in found}) == 3


def test_an_author_and_a_baseline_tell_whose_code_it_is() -> None:
    assert kind_of("rules") is ContenderKind.RULES
    assert kind_of("reference") is ContenderKind.REFERENCE
    assert kind_of("") is ContenderKind.OWN
    assert kind_of("some-model-7b") is ContenderKind.MODEL
    assert [kind_of("", each) for each in Baseline] == [ContenderKind.INDUCTOR, ContenderKind.EAGER_ROUNDING]


def test_a_runs_charts_draw_contenders_as_boards_do() -> None:
    drawn = run_looks(Baseline.EAGER_ROUNDING, "rules")
    kinds = (ContenderKind.EAGER, ContenderKind.EAGER_ROUNDING, ContenderKind.RULES)
    assert [drawn[each] for each in Contender] == [CONTENDER_LOOKS[kind] for kind in kinds]
