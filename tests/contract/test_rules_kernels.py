"""Kernels that the rules write, through Triton's interpreter, beside eager."""

import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from passnet_core.corpus.layout import write_task
from tests.contract.made import around_a_product
from tests.contract.modules_run import run
from tests.contract.rules_cases import CASES

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def problems(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What differs from eager, by the name of each case that is to run. One process runs them, for all workers of this
    run: all take half a minute."""
    given = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    names = [str(spec.params["name"]) for spec in given if spec is not None]
    shared = tmp_path_factory.getbasetemp().parent / "rules_cases.json"
    with shared.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists() or "PYTEST_XDIST_WORKER" not in os.environ:
            shared.write_text(_problems(names))
    found: dict[str, str] = json.loads(shared.read_text())
    return found


def _problems(names: Sequence[str]) -> str:
    done = run("tests.contract.rules_cases", *names)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.settled
@pytest.mark.parametrize("name", CASES)
def test_values_dtypes_strides_and_changed_inputs_are_eagers(name: str, problems: dict[str, str]) -> None:
    assert problems[name] == ""


def test_every_candidate_gives_eagers_values(tmp_path: Path) -> None:
    write_task(around_a_product("around"), tmp_path / "around")
    done = run("tests.contract.trying_rules", "--candidates", str(tmp_path / "around"))
    assert (done.returncode, done.stdout) == (0, "3 tried, 0 problems\n"), done.stderr[-3000:]
