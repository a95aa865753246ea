"""CHECKS is complete: each check says what it catches, has its own test file, and is documented."""

import inspect
from pathlib import Path

import pytest

from passnet_core.judge.stages import checks
from passnet_core.judge.stages.verify import CHECKS
from passnet_core.judge.stages.verify_session import Check

HERE = Path(__file__).parent
DOCUMENTED = HERE.parents[1] / "docs" / "judge.md"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_each_check_says_what_it_catches_and_has_a_test_file(check: Check) -> None:
    name = check.__name__
    assert check.__module__ == f"{checks.__name__}.{name}"
    assert (inspect.getdoc(check) or "").startswith(("Catches ", "Tells "))
    assert (HERE / "checks" / f"test_check_{name}.py").exists()
    assert f"| {name.replace('_', ' ')} |" in DOCUMENTED.read_text()


def test_each_file_of_a_check_is_listed() -> None:
    (folder,) = checks.__path__
    files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
    assert files == {check.__name__ for check in CHECKS}
    documented = DOCUMENTED.read_text().split("## Checks")[1].split("##")[0].splitlines()
    rows = [line.split("|")[1].strip() for line in documented if line.startswith("| ")]
    assert [row for row in rows if row.replace(" ", "_") in files] == [
        check.__name__.replace("_", " ") for check in CHECKS
    ], "docs/judge.md must list the checks in their order"
