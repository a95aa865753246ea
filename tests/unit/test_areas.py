"""Areas of tests: what counts as a change of one, and how a run is recorded."""

from collections import Counter
from pathlib import Path

from tests import areas, lanes
from tests.areas import AREAS, Area


def test_every_test_belongs_to_one_area_at_most() -> None:
    files = [path.relative_to(lanes.TESTS).as_posix() for path in lanes.TESTS.rglob("test_*.py")]
    belonging = Counter(
        file for file in files for area in AREAS.values() if any(lanes.lies_in(file, place) for place in area.tests)
    )
    assert set(belonging.values()) == {1}


def test_code_tests_and_data_count_and_comments_do_not(tmp_path: Path) -> None:
    code, test, data = tmp_path / "part" / "code.py", tmp_path / "tests" / "test_it.py", tmp_path / "part" / "data.json"
    for path in (code, test):
        path.parent.mkdir(parents=True)
        path.write_text("a = 1\n")
    data.write_text("{}")
    area = Area(("part",), ("test_it.py",))
    seen = [areas.digest(area, tmp_path)]
    code.write_text("a = 1  # one\n")
    assert areas.digest(area, tmp_path) == seen[0]
    for path, text in ((code, "a = 2\n"), (test, "a = 2\n"), (data, "[]"), (tmp_path / "part" / "new.py", "")):
        path.write_text(text)
        seen.append(areas.digest(area, tmp_path))
    assert len(set(seen)) == len(seen)


def test_a_record_keeps_what_it_has_of_other_areas(tmp_path: Path) -> None:
    path = tmp_path / "areas.json"
    assert areas.recorded(path) == {}
    areas.record({"one": "1", "other": "1"}, path)
    areas.record({"one": "2"}, path)
    assert areas.recorded(path) == {"one": "2", "other": "1"}


def test_each_test_of_an_area_has_a_day_of_its_own_in_every_week() -> None:
    tests = [f"contract/test_backend.py::test_{number}" for number in range(200)]
    days = [sum(lanes.has_its_day(test, day) for test in tests) for day in range(1_000, 1_000 + lanes.DAYS)]
    assert sum(days) == len(tests)
    assert min(days) > 0
