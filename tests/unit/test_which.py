"""What a run may leave out follows from the files alone, and what a change makes run is told."""

import ast
from pathlib import Path

import pytest

from tests import needs, which
from tests.needs import PROJECT, TESTS, needed

CENSUS = "tests/contract/test_census.py::test_a"
SAMPLED = [f"tests/contract/test_census.py::test_{number}" for number in (12, 19, 27)]
CHEAT = TESTS / "adversarial" / "cheats" / "clock" / "batch_of_four.py"


@pytest.fixture
def known() -> dict[str, str]:
    return {which.place_of(CHEAT): which.subject_digest(CHEAT)}


def test_nothing_that_chooses_tests_knows_the_date_the_machine_or_chance() -> None:
    for file in (which.__file__, needs.__file__, str(TESTS / "conftest.py")):
        nodes = list(ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        assert names.isdisjoint({"time", "datetime", "random", "platform", "socket", "uuid", "secrets"}), file
    assert len(Path(which.__file__).read_text(encoding="utf-8").splitlines()) <= 150


def test_the_sample_is_always_the_same_and_small() -> None:
    names = [f"tests/contract/test_census.py::test_{number}" for number in range(1200)]
    sampled = [name for name in names if which.is_sampled(name)]
    assert sampled[:3] == SAMPLED
    assert len(names) / which.SAMPLE * 0.8 < len(sampled) < len(names) / which.SAMPLE * 1.2


def test_a_test_is_left_out_only_while_its_evidence_and_its_subject_are_as_recorded(known: dict[str, str]) -> None:
    unchanged = frozenset({"tests/contract/test_census.py"})
    assert not which.is_sampled(CENSUS)
    assert which.may_be_left_out(CENSUS, None, known, unchanged)
    assert which.may_be_left_out(CENSUS, CHEAT, known, unchanged)
    assert not which.may_be_left_out(CENSUS, None, known, frozenset())
    assert not which.may_be_left_out(CENSUS, CHEAT, {}, unchanged)
    assert not which.may_be_left_out(CENSUS, CHEAT, dict.fromkeys(known, "another"), unchanged)
    assert not which.may_be_left_out(SAMPLED[0], CHEAT, known, unchanged)


def test_imports_within_functions_fixtures_and_started_programs_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "PROJECT", tmp_path)
    monkeypatch.setattr(needs, "TESTS", tmp_path / "tests")
    files = {
        "tests/test_it.py": "def test_it(backend):\n    from part import near\n",
        "part/__init__.py": "",
        "part/near.py": "import far",
        "far.py": "",
        "tests/folder/conftest.py": 'STARTS = ("pages",)\n',
        "tests/folder/test_other.py": "",
        "pages/view.py": "",
        "pages/view.css": "",
    }
    for place, code in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(code)
    monkeypatch.setattr(needs, "REAL_JUDGE", tmp_path / "pages" / "view.css")

    def found(place: str) -> set[str]:
        return {path.relative_to(tmp_path).as_posix() for path in needed(tmp_path / place)}

    assert found("tests/test_it.py") == {
        "tests/test_it.py", "part/__init__.py", "part/near.py", "far.py", "pages/view.css",
    }  # fmt: skip
    assert found("tests/folder/test_other.py") == {
        "tests/folder/test_other.py", "tests/folder/conftest.py", "pages/view.py", "pages/view.css",
    }  # fmt: skip


def test_evidence_changes_with_code_and_data_and_not_with_comments(tmp_path: Path) -> None:
    code, data = tmp_path / "code.py", tmp_path / "data.json"
    seen = set()
    for new_code, new_data in (("a = 1", "{}"), ("a = 1  # one", "{}"), ("a = 2", "{}"), ("a = 1", "[]")):
        code.write_text(new_code)
        data.write_text(new_data)
        which._content.cache_clear()
        seen.add((which._content(code), which._content(data)))
    assert len(seen) == 3


def test_the_judge_is_evidence_of_every_settled_file(monkeypatch: pytest.MonkeyPatch) -> None:
    before = which.evidence()
    monkeypatch.setattr(which, "digest_of_judge", lambda package: "another")
    after = which.evidence()
    assert before.keys() == after.keys()
    assert all(before[place] != after[place] for place in before)


def test_what_is_recorded_exists() -> None:
    assert [place for place in which.recorded() if not (PROJECT / place).exists()] == []


def test_a_change_of_a_file_tells_what_it_makes_run() -> None:
    judge = list(which.consequences(PROJECT / "passnet_core" / "judge" / "stages" / "verify.py"))
    assert "  all of tests/adversarial/test_values.py" in judge
    assert "  tests/contract/test_backend.py" in judge
    page = list(which.consequences(PROJECT / "pages" / "ui" / "frame.py"))
    assert "  tests/pages/test_pages.py" in page
    assert "  all of tests/browser/test_visit.py" in page
    assert not any("tests/adversarial" in line for line in page)
    readme = list(which.consequences(PROJECT / "README.md"))
    assert "  tests/unit/test_documentation.py" in readme
