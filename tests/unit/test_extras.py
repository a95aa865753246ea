"""The packages that the extras install, and what is said where one is missing."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from passnet_core.cli import extras
from passnet_core.cli.console import INFRASTRUCTURE
from passnet_core.cli.extras import EXTRA_OF, extras_named
from passnet_core.cli.main import main
from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends import local

PROJECT = Path(__file__).resolve().parents[2]
EXTRAS: dict[str, list[str]] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
ORDER = ("judge", "llm", "app", "server", "ray")
"""What two extras install is named by the later one."""
IMPORTED_AS = {"vl-convert-python": "vl_convert"}


def test_every_package_of_an_extra_is_known() -> None:
    of = {IMPORTED_AS.get(name, name): extra for extra in ORDER for name in names_in(EXTRAS[extra])}
    assert of == EXTRA_OF


def names_in(requirements: list[str]) -> list[str]:
    return [re.split(r"[<>=!;~ \[]", each)[0] for each in requirements]


def test_every_package_is_pinned_once() -> None:
    lines = [line for line in (PROJECT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    pinned = [line.partition("==")[0].lower() for line in lines]
    assert len(set(pinned)) == len(pinned)
    for requirements in EXTRAS.values():
        assert {name.lower() for name in names_in(requirements)} <= set(pinned)


def test_a_missing_package_is_an_extra_to_install() -> None:
    with pytest.raises(InfrastructureError, match=r"duckdb.*passnet-playground\[app\]"), extras_named():
        raise ModuleNotFoundError("No module named 'duckdb'", name="duckdb")
    with pytest.raises(ModuleNotFoundError), extras_named():
        raise ModuleNotFoundError("No module named 'passnet_core.gone'", name="passnet_core.gone")


@pytest.mark.parametrize(
    ("argv", "missing", "extra"),
    [
        (["app"], "streamlit", "app"),
        (["app", "--serve"], "mcp", "server"),
        (["mcp"], "duckdb", "app"),
        (["mcp"], "mcp", "server"),
    ],
)
def test_a_command_names_what_it_needs(
    argv: list[str],
    missing: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None if name == missing else object())
    assert main(argv) == INFRASTRUCTURE
    assert f"{missing}. Run: pip install 'passnet-playground[{extra}]'" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_the_judge_names_what_it_needs(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: None if name == missing else object())
    problem = local.LocalBackend(sys.executable, "process", tmp_path).info().problem
    assert f"{missing}. Run: pip install 'passnet-playground[judge]', or set PASSNET_PYTHON" in problem
