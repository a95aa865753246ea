"""The bundles that come with the playground change nothing in models for which they were not judged."""

import json
import os
import subprocess
import sys

import pytest

from tests.contract.interpreted import PROJECT
from tests.waiting import seconds

pytest.importorskip("triton")

pytestmark = pytest.mark.long


def counts(*argv: str, limit_s: float) -> dict[str, int]:
    """How many programs did what with the bundles. None of them may do something else than without."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.contract.using_bundles", "--json", *argv],
        cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True,
        timeout=seconds(limit_s),
    )  # fmt: skip
    assert run.stdout, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert found["different"] == []
    told: dict[str, int] = found["counts"]
    return told


def test_programs_around_bundles_do_what_they_do_without() -> None:
    told = counts("--part", "7/40", limit_s=150)
    assert told["replaced"]
    assert told["left alone"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_programs_around_all_bundles(part: int) -> None:
    assert counts("--part", f"{part}/4", "--seed", "1", limit_s=1200)["replaced"]


@pytest.mark.slow
def test_programs_around_bundles_with_inductor() -> None:
    assert counts("--part", "3/40", "--rest", "inductor", limit_s=900)["replaced"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_torch_s_own_samples_with_all_bundles(part: int) -> None:
    counts("--samples", "--part", f"{part}/4", limit_s=1800)
