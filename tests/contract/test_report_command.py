"""The command report: the file that it writes, and its messages."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.settings import Settings
from tests.contract.made import outcome
from tests.example_playground import write_data
from tests.fake_backend import FakeBackend

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", data=write_data(tmp_path / "data"), python=Path(sys.executable))


def said(settings: Settings, *argv: str, code: int) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert main(argv, out=out, err=err, settings=settings, backend=FakeBackend(outcome)) == code
    return out.getvalue() + err.getvalue()


def test_report_writes_a_run_into_one_file(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    assert str(path) in said(settings, "report", "recorded-passes", "--out", str(path), code=0)
    first = path.read_bytes()
    assert first.startswith(b"<!doctype html>")
    told = json.loads(said(settings, "report", "recorded-passes", "--out", str(path), "--json", code=0))
    assert told == {"run": "recorded-passes", "file": str(path), "bytes": len(first)}
    assert path.read_bytes() == first
    section = DOCUMENT.split("\n### report\n", 1)[1]
    assert set(re.findall(r"^\| `(\w+)` \|", section, flags=re.M)) == set(told)


def test_report_refuses_an_unknown_run_and_an_absent_folder(settings: Settings, tmp_path: Path) -> None:
    assert "none-such" in said(settings, "report", "none-such", "--out", str(tmp_path / "x.html"), code=2)
    assert not (tmp_path / "x.html").exists()
    said(settings, "report", "recorded-passes", "--out", str(tmp_path / "no" / "folder" / "x.html"), code=2)
