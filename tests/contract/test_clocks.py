"""CLOCKS holds every clock, and each clock says whether and how it is audited."""

from pathlib import Path

import pytest

from passnet_core.judge.stages.clock_audits import Audit, ClockSpec, NotAudited
from passnet_core.judge.stages.measure import CLOCKS
from passnet_core.records import Clock

DOCUMENTED = Path(__file__).parents[2] / "docs" / "judge.md"


def test_a_clock_must_say_whether_it_is_audited() -> None:
    with pytest.raises(TypeError, match="audited"):
        ClockSpec(Clock.EVENT, budget_s=0.2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="why"):
        NotAudited()  # type: ignore[call-arg]


def test_every_clock_is_specified_once_and_one_is_scored() -> None:
    assert sorted(spec.clock for spec in CLOCKS) == sorted(Clock)
    assert [spec.clock for spec in CLOCKS if spec.scored] == [Clock.END_TO_END]
    assert all(isinstance(spec.audited, Audit) for spec in CLOCKS if spec.scored), "a scored clock must be audited"
    assert [spec.clock for spec in CLOCKS if spec.passnet] == [Clock.END_TO_END, Clock.EVENT]


@pytest.mark.parametrize("spec", CLOCKS, ids=lambda spec: spec.clock.value)
def test_each_clock_is_documented_with_its_guard(spec: ClockSpec) -> None:
    row = next(line for line in DOCUMENTED.read_text().splitlines() if line.startswith(f"| {spec.clock.value} |"))
    guard = row.split("|")[3].strip()
    assert guard.startswith("yes" if isinstance(spec.audited, Audit) else "no:")
