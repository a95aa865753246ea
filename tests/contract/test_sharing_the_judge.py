"""One judge for many: whoever loops while a pass loads holds up nobody for long, with the real judge over real HTTP."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.scheduler import MOST_TURNS
from passnet_core.records import Family, Phase, Task, Verdict
from tests.contract.judging import RIGHT, subgraph
from tests.contract.programs_served import Playground, Program, playground
from tests.waiting import eventually

pytestmark = pytest.mark.long

TASK = Task("add-relu", Family.FUSIBLE, "develop", (subgraph(),))

LOOPS = f"{RIGHT}\nwhile True:\n    pass\n"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    folder = tmp_path_factory.mktemp("served")
    with playground(folder, LocalBackend(sys.executable, "auto", folder / "judge"), [TASK], many=True) as served:
        yield served


def begun(program: Program, code: str, stage: str) -> str:
    """Start a run with as late a deadline as can be asked for, and return its id."""
    bundle = {"passes": [{"name": "a.py", "code": code}]}
    answered = program.ask("POST", "/api/runs", {"task": TASK.id, "bundle": bundle, "stage": stage, "deadline_s": 600})
    assert answered.status == 202, answered
    return str(answered.data["run"])


def ended(program: Program, run: str) -> Any:
    """The outcome of a run with one subgraph."""
    eventually(lambda: program.get(f"/runs/{run}?wait_s=30")["finished"], "the end of the run", idle_s=60)
    (found,) = program.get(f"/runs/{run}/outcomes")
    return found


@pytest.mark.parametrize("stage", ["check", "verify"])
def test_who_loops_is_charged_at_once_and_others_go_first(stage: str, many: Playground) -> None:
    looping, mine = many.program(f"looping {stage}"), many.program(f"waiting {stage}")
    runs = [begun(looping, LOOPS + "#" * number, stage) for number in range(2)]
    eventually(lambda: looping.get("/me")["used_s"] > 0, "seconds that are charged while the pass loops", idle_s=30)
    for number in range(MOST_TURNS):
        eventually(lambda: looping.get(f"/runs/{runs[0]}")["phase"] == Phase.LOAD, "a turn", idle_s=30)
        found = ended(mine, begun(mine, f"{RIGHT}#{number}", stage))
        assert found["verdict"] in (Verdict.MATCHED, Verdict.VALUES_ONLY), found["reason"]
    told = ended(looping, runs[0])
    assert told["verdict"] == Verdict.CANCELLED
    assert "others who wait" in told["reason"]
    assert not looping.get(f"/runs/{runs[1]}")["finished"]
    looping.ask("POST", f"/api/runs/{runs[1]}/cancel")
    ended(looping, runs[1])


def test_a_pass_has_no_more_time_than_the_role_of_its_person(many: Playground) -> None:
    program = many.program("alone")
    assert ended(program, begun(program, LOOPS, "check"))["verdict"] == Verdict.TIMED_OUT
    (asked,) = [each.spec.deadline_s for each in many.service.outcomes(many.service.runs(1, checks=True)[0].run.id)]
    assert asked == 20.0
