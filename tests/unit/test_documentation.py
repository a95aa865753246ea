"""The documents name what exists: paths, modules, links, make targets, extras, variables, and the judge's lists."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from passnet_core.cli import console
from passnet_core.records import ERROR_CLASS, TIMED, Clock, ErrorClass, Verdict

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "passnet_core"
ARCHITECTURE = (PROJECT / "docs" / "architecture.md").read_text()
INSTALLING = (PROJECT / "docs" / "installing.md").read_text()
JUDGE = (PROJECT / "docs" / "judge.md").read_text()
INPUTS = (PROJECT / "docs" / "inputs.md").read_text()
COMMAND_LINE = (PROJECT / "docs" / "command-line.md").read_text()
HELP_ON_COMMANDS = (PROJECT / "assets" / "help" / "command-line.md").read_text()
MAKEFILE = (PROJECT / "Makefile").read_text()

PAGES = [
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "THIRD_PARTY.md")),
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "data").glob("*/README.md")),
]
FOLDERS = ("passnet_core", "passnet_client", "pages", "tools", "examples", "tests", "assets", "data", "docs", "deploy")
SUFFIXES = (".py", ".md", ".json", ".gz", ".toml", ".txt", ".yaml", ".svg")
MADE = {
    "secrets.toml",
    "lib/provenance.json",
    "passnet_core/_app",
    "best/",
    "judged.json",
    "dataset_info.json",
    "tasks/cut.jsonl.gz",
    "tasks/imported.jsonl.gz",
    "first.py",
    "fused.py",
    "name.py",
}
"""Paths that only running or installing makes, paths in other packages, and names in examples."""

COUNTED_AS = {
    ErrorClass.COMPILE: "compile error",
    ErrorClass.RUNTIME: "runtime error",
    ErrorClass.TYPE: "type error",
    ErrorClass.ACCURACY: "accuracy error",
    ErrorClass.CHEAT: "failure, never forgiven",
    ErrorClass.EAGER: "failure, never forgiven",
}


def named(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


@cache
def files() -> frozenset[str]:
    """Every file and folder of the project, below the root."""
    found = [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*") if "__pycache__" not in path.parts]
    return frozenset(named(path) for path in [*PROJECT.iterdir(), *found])


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the table whose header begins with this cell."""
    lines = text.split(f"\n| {first} |", 1)[1].splitlines()[2:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def constant(path: str, name: str) -> object:
    """A constant of a module that loads torch, read from its source."""
    for node in ast.parse((CORE / path).read_text()).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    return ast.literal_eval(node.value)
                if isinstance(target, ast.Tuple) and name in (known := [ast.unparse(each) for each in target.elts]):
                    return ast.literal_eval(node.value)[known.index(name)]
    raise AssertionError(f"{path} has no {name}")


# --- paths, modules, links -------------------------------------------------------------------------------------------


def paths_in(text: str) -> set[str]:
    """Paths in code spans, as far as they are given: up to a placeholder in capitals."""
    words = {word.strip("\"',") for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()}
    paths = {word for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", word)}
    given = {re.split(r"(?:^|/)[^/]*(?:NAME|FAMILY|DIR|TASK|FOLDER|OUT|OWNER)", path)[0] for path in paths}
    return {path for path in given if ("/" in path and not path.startswith(".venv/")) or path.endswith(SUFFIXES)}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_exists(page: Path) -> None:
    for path in paths_in(page.read_text()) - MADE:
        stem = path.rstrip("/")
        known = any(each == stem or each.endswith((f"/{stem}", f"/{stem}.py")) for each in files())
        assert known, f"{named(page)} names {path}, which does not exist"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_module_exists(page: Path) -> None:
    text = page.read_text()
    programs = set(re.findall(r"python -m ((?:passnet_core|tools|tests)[\w.]*\w)", text))
    for name in programs | set(re.findall(r"`(passnet_core(?:\.\w+)+)`", text)):
        path = PROJECT.joinpath(*name.split("."))
        assert path.with_suffix(".py").is_file() or path.is_dir(), f"{named(page)} names {name}"
        assert name not in programs or path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), name


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_resolves(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{named(page)} links to {link}"
        assert not anchor or anchor in anchors(target.read_text()), f"{named(page)} links to {link}"


def test_every_promise_of_security_names_tests_that_exist() -> None:
    text = (PROJECT / "docs" / "security.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert all("`tests/" in row or row.endswith("| the same |") for row in rows)
    found = re.findall(r"`(tests/[\w/.]+\.py)::(\w+)`", text)
    assert len(found) > 10
    for path, test in found:
        assert f"def {test}(" in (PROJECT / path).read_text(), f"{path} has no {test}"


def test_the_readme_is_one_page_and_leads_to_every_document() -> None:
    readme = (PROJECT / "README.md").read_text()
    assert len(readme.encode()) <= 6_000
    linked = set(re.findall(r"\]\(([\w./-]+\.md)", readme))
    assert {named(page) for page in (PROJECT / "docs").glob("*.md")} <= linked


def test_the_architecture_lists_every_part_of_the_package() -> None:
    layout = section(ARCHITECTURE, "Parts").split("passnet_core/\n", 1)[1].split("\ntools ", 1)[0]
    listed = {name for line in layout.splitlines() for name in re.match(r"  ([\w, ]+?)  ", line)[1].split(", ")}  # type: ignore[index]
    parts = {path.stem for path in CORE.iterdir() if not path.name.startswith("_")}
    assert listed == parts


# --- make targets, extras, exit codes, variables ----------------------------------------------------------------------


def test_every_make_target_exists_and_is_explained() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
    text = "\n".join(re.sub(r"`{3}\w*\n", "`", page.read_text()) for page in PAGES)
    used = set(re.findall(r"(?:`|^|    )make ([a-z-]+)", text, re.MULTILINE))
    assert used == targets
    assert set(re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[1].split()) == targets  # type: ignore[index]


def test_every_extra_is_listed_where_installing_is_described() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    listed = [cells[0].strip("`") for cells in rows(INSTALLING, "extra")]
    assert sorted(listed) == sorted(["none", *project["optional-dependencies"]])


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    codes = {console.ACCEPTED, console.NOT_ACCEPTED, console.WRONG_USE, console.INFRASTRUCTURE, console.INTERRUPTED}
    assert {int(cells[0]) for cells in rows(COMMAND_LINE, "exit code")} == codes
    sentence = HELP_ON_COMMANDS.split("Exit codes: ")[1].split(". ")[0]
    assert {int(each) for each in re.findall(r"\d+", sentence)} == codes


def test_every_variable_is_documented_and_exists() -> None:
    names = r"\b(?:PASSNET|OPENAI)_[A-Z_]+\b"
    assert set(re.findall(names, (CORE / "settings.py").read_text())) == set(re.findall(names, COMMAND_LINE))
    sources = [*CORE.rglob("*.py"), *(PROJECT / "passnet_client").glob("*.py"), PROJECT / "tests" / "conftest.py"]
    code = "".join(path.read_text() for path in sources)
    assert set(re.findall(names, "".join(page.read_text() for page in PAGES))) <= set(re.findall(names, code))


# --- the judge's lists -----------------------------------------------------------------------------------------------


def counted(verdict: Verdict) -> str:
    error = ERROR_CLASS[verdict]
    return COUNTED_AS[error] if error else "its speedup" if verdict in TIMED else "left out"


def test_every_verdict_is_documented_in_order_with_how_it_counts() -> None:
    listed = [(cells[0], cells[2]) for cells in rows(section(JUDGE, "Verdicts"), "verdict")]
    assert listed == [(verdict.value, counted(verdict)) for verdict in Verdict]


def test_every_clock_is_documented() -> None:
    assert [cells[0] for cells in rows(section(JUDGE, "Time"), "clock")] == [clock.value for clock in Clock]


def test_every_input_draw_is_documented() -> None:
    draws = constant("judge/numerics/input_draws.py", "INPUT_DRAWS")
    assert tuple(cells[0] for cells in rows(section(INPUTS, "Input sets"), "input set")) == draws


def test_every_further_draw_is_documented() -> None:
    draws = constant("judge/numerics/input_draws.py", "FURTHER_DRAWS")
    assert tuple(cells[0] for cells in rows(section(INPUTS, "Inputs that tell"), "further draw")) == draws


def test_the_profiles_differ_as_documented() -> None:
    life = section(JUDGE, "The life of a job")
    strict, passnet = ({cells[0]: cells[place] for cells in rows(life, "rule")} for place in (1, 2))
    assert tuple(strict["input sets"].split(", ")) == constant("judge/numerics/input_draws.py", "INPUT_DRAWS")
    assert passnet["input sets"] == "recorded"
    calls = [str(constant("judge/stages/measure.py", name)) for name in ("PASSNET_WARM_UP", "PASSNET_CALLS")]
    assert re.findall(r"\d+", passnet["timed calls"]) == calls
    checks = {path.stem: path.read_text() for path in (CORE / "judge" / "stages" / "checks").glob("[a-z]*.py")}
    # PassNet's bench does not watch inputs: that check is silent without asking for the profile
    only_strict = {name for name, code in checks.items() if re.search(r"\.strict\b", code)} | {"inputs_after_call"}
    assert {name.replace(" ", "_") for name in passnet["checks of VERIFY"].split(", ")} == set(checks) - only_strict
