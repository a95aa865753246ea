"""The table of results: it counts per family, and replaces only the text between the markers of its device."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.errors import BadInput
from passnet_core.execution.backends.base import outcome_without_judge
from passnet_core.records import Device, Environment, Finding, Isolation, Outcome, Verdict
from tests.adversarial.__main__ import Result, _plain, _rows, _write_table
from tests.adversarial.corpus import Entry, entries

HERE = Environment("a device", "", "3.11", "2.0", "3.0", Isolation.SANDBOXED, "0")
SLIP = Finding("a.py", 1, 1, "torch-call", "torch.relu is called.", "Compute it.")


def got(entry: Entry, verdict: Verdict) -> Outcome:
    without = outcome_without_judge(entry.job(), Verdict.INFRASTRUCTURE, "as given", environment=HERE)
    return replace(without, verdict=verdict, findings=(SLIP,) if verdict is Verdict.REJECTED else ())


@pytest.fixture
def results() -> list[Result]:
    caught, missed, unsteady = entries("rules")[:3]
    asked = [replace(each, verdicts=(Verdict.REJECTED,), rules=("torch-call",)) for each in (caught, missed, unsteady)]
    verdicts = [(Verdict.REJECTED,), (Verdict.LIBRARY,), (Verdict.REJECTED, Verdict.LIBRARY)]
    return [Result(entry, [got(entry, each) for each in found]) for entry, found in zip(asked, verdicts)]


def test_the_table_counts_caught_files_deviations_and_changed_verdicts(results: list[Result]) -> None:
    assert _rows(results) == [("rules", "3", "1", "0", "2", "1"), ("all", "3", "1", "0", "2", "1")]
    assert "not as stated" in _plain(_rows(results)).splitlines()[0]


def test_a_rejection_by_another_rule_than_the_one_in_the_header_is_a_deviation(results: list[Result]) -> None:
    entry = replace(results[0].entry, rules=("dynamic-code",))
    assert "expected dynamic-code" in entry.deviation(results[0].outcomes[0])


def test_the_table_is_written_between_the_markers_of_its_device(tmp_path: Path, results: list[Result]) -> None:
    file = tmp_path / "adversarial.md"
    file.write_text("before\n<!-- corpus cpu -->\nold\n<!-- end of corpus cpu -->\nafter\n")
    _write_table(file, Device.CPU, results)
    text = file.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| rules | 3 | 1 | 0 | 2 | 1 |" in text
    assert "a device, torch 2.0" in text
    with pytest.raises(BadInput, match="corpus cuda"):
        _write_table(file, Device.CUDA, results)


def test_the_documentation_has_the_markers_of_both_devices() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "adversarial.md").read_text()
    for device in Device:
        assert f"<!-- corpus {device.value} -->" in text
        assert f"<!-- end of corpus {device.value} -->" in text
