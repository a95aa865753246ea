"""The bundles that the rules wrote for the bundled tasks, and which of a task's candidates is one of them."""

import json
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import write_task
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Capture, Device, Job, Outcome, Verdict
from passnet_core.settings import BUNDLED_DATA, rules_file
from passnet_core.solvers.rules.candidates import candidates
from tests.contract.made import around_a_product, outcome
from tests.fake_backend import FakeBackend
from tools.recording import parts_of, record
from tools.solving import MEASURED, bundle_for, measured

STARTS = ("data/solved",)


@pytest.mark.settled
def test_the_bundled_file_holds_what_the_rules_write() -> None:
    """Otherwise run "make bundles"."""
    corpus, solved = Corpus([BUNDLED_DATA / "tasks"]), read_solved(rules_file())
    kept = json.loads(MEASURED.read_text())["kept"]
    ids = [each.id for each in corpus.tasks()]
    assert set(solved) <= set(ids)
    assert len(ids) - len(solved) == 1
    assert set(kept) <= set(solved)
    for task_id in {*ids[::20], *kept}:
        assert bundle_for(corpus.task(task_id), kept.get(task_id)) == solved[task_id], task_id


def test_measurement_names_the_candidate_to_keep(tmp_path: Path) -> None:
    write_task(around_a_product("around"), tmp_path / "tasks" / "around")
    corpus = Corpus([tmp_path / "tasks"])
    found = candidates(corpus.task("around"))
    speeds = {each.bundle.digest: 1.2 + (each is found[-1]) for each in found}

    def timed(job: Job) -> Outcome:
        assert job.bundle is not None
        return outcome(job, Verdict.FASTER, speedup=speeds[job.bundle.digest])

    parts = list(parts_of(corpus, tmp_path, solvers=[], captures=[Capture.DIRECT], trials=5, ways=True))
    assert record(parts, tmp_path / "runs", Scheduler(FakeBackend(timed, Device.CUDA))) == len(found)
    files = sorted((tmp_path / "runs").iterdir())
    assert [file.name for file in files] == sorted(f"rules-{each.name}-cuda-direct-around.jsonl.gz" for each in found)
    told = measured(corpus, files)
    assert told["kept"] == {"around": found[-1].name}
    assert bundle_for(corpus.task("around"), found[-1].name) == found[-1].bundle
    with pytest.raises(BadInput, match=r"tools\.recording --ways"):
        measured(corpus, files[:1])
    with pytest.raises(BadInput, match="no candidate other for around"):
        bundle_for(corpus.task("around"), "other")
