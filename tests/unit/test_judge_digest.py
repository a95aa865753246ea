"""The judge's digest: prose and layout are free, code is not."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from passnet_core.judge.supervisor.machine import JUDGING, NOT_JUDGING, code_only, digest_of_judge
from passnet_core.judge.supervisor.sandbox import PACKAGE

BASELINES = PACKAGE.parent / "data" / "baselines"

WRITTEN = '''"""What this module is for."""

LIMIT = 4
"""Of what there may be."""


def doubled(values, by=2):
    """All values, doubled."""
    # in order
    return [value * by for value in values]
'''

REWORDED = """# A header.
LIMIT = 4  # may change


def doubled(
    values,
    by=2,
):
    return [
        value * by  # each
        for value in values
    ]
"""


def test_comments_docstrings_and_line_breaks_are_free() -> None:
    assert code_only(WRITTEN) == code_only(REWORDED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 4", "LIMIT = 5"),
        ("LIMIT = 4", "LIMIT: int = 4"),
        ("by=2", "by=2.0"),
        ("by=2", "by=None"),
        ("by=2", "*, by=2"),
        ("value * by for", "value + by for"),
        ("    return", "    values = list(values)\n    return"),
        ("values]", "values]\n    return None"),
        ("LIMIT = 4", 'LIMIT = (\n    "text"\n)'),
    ],
)
def test_every_change_of_code_shows(old: str, new: str) -> None:
    assert old in WRITTEN
    assert code_only(WRITTEN.replace(old, new, 1)) != code_only(WRITTEN)


def test_a_string_that_is_used_is_code() -> None:
    assert code_only('f(\n    """one"""\n)') != code_only('f(\n    """two"""\n)')


def test_the_digest_is_that_of_the_code_wherever_it_lies(tmp_path: Path) -> None:
    for part in JUDGING:
        source = PACKAGE / part
        if source.is_dir():
            shutil.copytree(source, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / part)
    assert digest_of_judge(tmp_path) == digest_of_judge(PACKAGE)


def test_the_digest_is_that_of_the_code_alone(tmp_path: Path) -> None:
    for part in JUDGING:
        if (PACKAGE / part).is_dir():
            (tmp_path / part).mkdir()
            shutil.copy(PACKAGE / part / "__init__.py", tmp_path / part)
        else:
            shutil.copy(PACKAGE / part, tmp_path / part)
    digest = digest_of_judge(tmp_path)
    records = tmp_path / "records" / "__init__.py"
    records.write_text(f"# reworded\n{records.read_text()}")
    assert digest_of_judge(tmp_path) == digest
    records.write_text(f"{records.read_text()}\nANOTHER = 1\n")
    assert digest_of_judge(tmp_path) != digest


def test_what_is_left_out_of_the_digest_is_never_loaded_by_the_judge() -> None:
    left_out = {f"passnet_core.{place.removesuffix('.py').replace('/', '.')}" for place in NOT_JUDGING}
    assert all((PACKAGE / place).is_file() for place in NOT_JUDGING)
    for file in (file for part in JUDGING for file in (PACKAGE / part).rglob("*.py")):
        if file.relative_to(PACKAGE).as_posix() not in NOT_JUDGING:
            assert not any(name in file.read_text(encoding="utf-8") for name in left_out), file


def test_the_readme_names_every_recorded_judge() -> None:
    recorded = {
        digest
        for file in BASELINES.glob("*.jsonl.gz")
        for digest in re.findall(r'"judge_digest":"([0-9a-f]{20})"', gzip.decompress(file.read_bytes()).decode())
    }
    listed = set(re.findall(r"^\| ([0-9a-f]{20}) \|", (BASELINES / "README.md").read_text(), re.MULTILINE))
    assert recorded == listed
