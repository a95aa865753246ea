"""How much longer a comparison takes, by what the judge has told."""

import pytest

from passnet_core.execution.runs_in_progress import Steps


def test_later_steps_take_as_long_as_those_before() -> None:
    steps = Steps().at("input set 1 of 6, typical", 10.0)
    assert steps.left(12.0) is None, "nothing tells yet"
    steps = steps.at("input set 2 of 6, wide", 12.0).at("input set 3 of 6, edges", 14.0)
    assert steps.left(14.0) == pytest.approx(8.0)
    assert steps.left(15.0) == pytest.approx(7.0)
    assert steps.left(30.0) == pytest.approx(6.0), "the present one takes longer: it may end at once"
    assert steps.at("input set 6 of 6, sparse", 20.0).left(40.0) == 0.0


def test_something_else_ends_the_steps() -> None:
    steps = Steps().at("input set 1 of 6, typical", 10.0).at("input set 2 of 6, wide", 12.0)
    assert steps.at("Measuring time.", 13.0).left(14.0) is None
    assert steps.at("input set 1 of 6, typical", 20.0).left(21.0) is None, "another comparison"
