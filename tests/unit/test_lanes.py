"""The table of the lanes: it names only what exists, and every file that loads torch."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import lanes
from tests.lanes import BROWSER, GPU, JUDGE, MARKED, SMOKE, TESTS, TORCH

PROJECT = TESTS.parent
FILES = sorted(TESTS.rglob("test_*.py"))
HEAVY = ("torch", "triton")
BLOCKS = ("body", "orelse", "finalbody", "handlers")


def statements(body: list[ast.AST], *, inside: bool) -> Iterator[ast.AST]:
    """What runs when a module is imported; inside: also what its functions may run later."""
    for each in body:
        yield each
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            yield from statements(list(each.orelse), inside=inside)
        elif inside or not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in BLOCKS:
                yield from statements(getattr(each, block, []), inside=inside)


@cache
def imported(path: Path, *, inside: bool) -> frozenset[str]:
    """The modules that a file imports, and the packages they lie in."""
    named: set[str] = set()
    for each in statements(list(ast.parse(path.read_text()).body), inside=inside):
        if isinstance(each, ast.Import):
            named |= {alias.name for alias in each.names}
        elif isinstance(each, ast.ImportFrom) and each.module:
            named |= {each.module, *(f"{each.module}.{alias.name}" for alias in each.names)}
        elif isinstance(each, ast.Assign | ast.Expr) and ast.unparse(each.value).startswith("pytest.importorskip("):
            named.add(ast.literal_eval(each.value.args[0]))  # type: ignore[attr-defined]
    parts = [name.split(".") for name in named]
    return frozenset(".".join(each[:length]) for each in parts for length in range(1, len(each) + 1))


@cache
def own_file(module: str, beside: Path) -> Path | None:
    """Where a module of this project lies; tests also find those beside them and those in tests."""
    for folder in (PROJECT, TESTS, beside):
        path = folder.joinpath(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def loads_torch(path: Path, *, inside: bool = False) -> bool:
    """Whether importing a file loads torch; inside: or calling what is in it does."""
    seen: set[Path] = set()
    waiting = [path, *(each for folder in path.parents if (each := folder / "conftest.py").is_file())]
    while waiting:
        file = waiting.pop()
        names = imported(file, inside=inside and file == path)
        if not names.isdisjoint(HEAVY):
            return True
        seen.add(file)
        waiting += [own for name in names if (own := own_file(name, file.parent)) is not None and own not in seen]
    return False


@pytest.mark.parametrize("place", sorted({*SMOKE, *(place for places in MARKED.values() for place in places)}))
def test_every_place_exists(place: str) -> None:
    file, _, function = place.partition("::")
    assert (TESTS / file).exists()
    assert not function or f"def {function}(" in (TESTS / file).read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: lanes.place_of(path))
def test_what_loads_torch_is_marked(path: Path) -> None:
    marked = TORCH in lanes.markers_of(lanes.place_of(path))
    assert marked or not loads_torch(path), f"mark it as {TORCH!r} in tests/lanes.py"
    assert not marked or loads_torch(path, inside=True), f"it loads no torch: do not mark it as {TORCH!r}"


def test_an_import_below_another_is_found(tmp_path: Path) -> None:
    for name, code in {"far": "import torch.fx", "near": "def f():\n    import far", "nearer": "import far"}.items():
        (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "lazy.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n")
    found = {path.stem for path in tmp_path.glob("*.py") if loads_torch(path)}
    assert found == {"far", "nearer"}
    assert loads_torch(tmp_path / "near.py", inside=True)


def test_the_smoke_lane_needs_nothing_but_one_judge() -> None:
    files = [lanes.place_of(path) for path in FILES if lanes.in_smoke(lanes.place_of(path))]
    assert "unit/test_lanes.py" in files
    assert lanes.in_smoke(lanes.CHECK)
    for file in files:
        assert lanes.markers_of(file).isdisjoint({TORCH, BROWSER, GPU})
        assert JUDGE not in lanes.markers_of(file) or lanes.lies_in(lanes.CHECK, file)


def test_a_place_is_a_folder_a_file_or_a_test_with_its_cases() -> None:
    case = "contract/test_backend.py::test_it[a-b]"
    assert all(lanes.lies_in(case, place) for place in ("contract", "contract/test_backend.py", case, case[:-5]))
    assert not lanes.lies_in(case, "contract/test_back")
    assert lanes.markers_of("unit/test_records.py::test_it", ("tmp_path", "backend")) == {JUDGE}
    assert lanes.turn("browser/test_visit.py::test_it") < lanes.turn("unit/test_lanes.py::test_it")
    assert lanes.turn("adversarial/test_hostile.py::test_it") < lanes.turn("adversarial/test_values.py::test_it")


def test_each_test_of_the_judge_alone_has_one_day_of_a_week() -> None:
    assert all((lanes.TESTS / place).exists() for place in lanes.OF_THE_JUDGE)
    assert lanes.is_of_the_judge("contract/test_census.py::test_x[1]")
    assert not lanes.is_of_the_judge("contract/test_backend.py::test_x")
    names = [f"contract/test_census.py::test_{number}" for number in range(200)]
    days = [[day for day in range(700, 700 + lanes.DAYS) if lanes.has_its_day(name, day)] for name in names]
    assert [len(each) for each in days] == [1] * len(names)
    assert {day for (day,) in days} == set(range(700, 700 + lanes.DAYS))
