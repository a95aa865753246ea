"""Which corpus files are judged while the judge is as recorded: samples in turn, and every file that changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.adversarial import full_run
from tests.adversarial.corpus import entries
from tests.adversarial.full_run import SAMPLE, SAMPLES, State, planned

NAMES = [f"values/{number}" for number in range(4 * SAMPLE - 10)]
RULES = frozenset(f"rules/{number}" for number in range(4))
APART = {kind: frozenset(f"{kind}/{number}" for number in range(3 * size)) for kind, size in SAMPLES.items()}
OTHERS = frozenset.union(*APART.values())
THEN = State("a judge", {"torch": "2", "python": "3"}, dict.fromkeys((*NAMES, *RULES, *OTHERS), "as it was"))


def test_all_files_run_without_a_record() -> None:
    assert planned(THEN, None, RULES, 1).files is None


@pytest.mark.parametrize(
    ("now", "word"),
    [
        (replace(THEN, judge="another"), "the judge"),
        (replace(THEN, versions={"torch": "3", "python": "3"}), "torch"),
        (replace(THEN, versions={"torch": "2"}), "python"),
        (replace(THEN, versions={**THEN.versions, "isolation": "process"}), "isolation"),
    ],
)
def test_all_files_run_after_a_change_of_the_judge_or_of_a_version(now: State, word: str) -> None:
    plan = planned(now, THEN, RULES, 1)
    assert plan.files is None
    assert plan.why.endswith(f"changed since the recorded full run: {word}")


def test_successive_samples_cover_the_corpus() -> None:
    plans = [planned(THEN, THEN, RULES, turn).files or frozenset() for turn in range(700, 704)]
    assert [len(each - RULES - OTHERS) for each in plans] == [SAMPLE] * 4
    assert [len(each & RULES) for each in plans] == [1] * 4
    for kind, names in APART.items():
        assert [len(each & names) for each in plans] == [SAMPLES[kind]] * 4
    assert frozenset.union(*plans) == {*NAMES, *RULES, *OTHERS}
    assert planned(THEN, THEN, RULES, 700).files == plans[0]


def test_changed_and_new_files_run_in_every_turn() -> None:
    now = replace(THEN, files={**THEN.files, "values/7": "changed", "rules/1": "changed", "honest/new": "new"})
    for turn in range(3):
        files = planned(now, THEN, RULES, turn).files
        assert files is not None
        assert files >= {"values/7", "rules/1", "honest/new"}
        assert len(files) == SAMPLE + 1 + sum(SAMPLES.values()) + 3


def test_a_corpus_smaller_than_a_sample_runs_as_a_whole() -> None:
    small = replace(THEN, files=dict.fromkeys(NAMES[: SAMPLE - 1], "as it was"))
    assert planned(small, small, RULES, 5).files == set(NAMES[: SAMPLE - 1])


def test_a_record_reads_as_it_was_written(tmp_path: Path) -> None:
    assert full_run.read(tmp_path / "absent.json") is None
    full_run.write(THEN, tmp_path / "record.json")
    assert full_run.read(tmp_path / "record.json") == THEN


def test_the_state_names_the_judge_its_versions_and_every_file_that_needs_no_gpu() -> None:
    state = full_run.state()
    apart = [*full_run.REFERENCES, *full_run.LESSONS, full_run.GENERAL]
    assert len(state.files) == sum(not each.needs_gpu for each in entries()) + len(apart)
    assert len(state.judge) == 20
    assert {"python", "torch", "triton", "isolation"} <= state.versions.keys()
