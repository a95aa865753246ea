"""Who may import whom: the architecture, held by reading every import statement."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "passnet_core"
CLIENT = PROJECT / "passnet_client"

NOUNS = {"records", "errors", "outside", "shared_file"}
PURE = {"bundles", "graphs", "operations", "scoring", "charts"}
EDGES = {"settings", "corpus", "store", "execution"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "shared_file": {"errors"},
    "outside": {"records"},
    "records": {"records", "errors"},
    **{part: {part, *NOUNS, *PURE} for part in (*PURE, *EDGES)},
    "corpus": {"corpus", "execution", *NOUNS, *PURE},
    "execution": {"execution", "settings", *NOUNS, *PURE},
    "fx": {"fx", "records", "errors", "graphs", "operations"},
    "integrate": {"integrate", "fx", "judge", "settings", "corpus", *NOUNS, *PURE},
    "judge": {"judge", "fx", *NOUNS, *PURE} - {"charts"},
    "advice": {"advice", *NOUNS, *PURE},
    "leaderboard": {"leaderboard", "corpus", "store", *NOUNS, *PURE},
    "lessons": {"lessons", "advice", "corpus", "store", "settings", *NOUNS, *PURE},
    "solvers": {"solvers", "leaderboard", *NOUNS, *PURE, *EDGES},
    "training": {"training", "solvers", "settings", "corpus", "execution", *NOUNS, *PURE},
    "whole_models": {"whole_models", "fx", "integrate", "solvers", *NOUNS, *PURE, *EDGES},
    "service": {"solvers", "leaderboard", "lessons", "whole_models", *NOUNS, *PURE, *EDGES},
    "people": {"people", *NOUNS},
    "access": {"access", "people", "service", "solvers", "leaderboard", "lessons", "whole_models", *NOUNS, *EDGES},
    "reports": {"reports", "service", "leaderboard", *NOUNS, *PURE, *EDGES},
    "server": {
        *("server", "service", "access", "people", "solvers", "leaderboard", "training", *NOUNS, *PURE, *EDGES),
    },
    "cli": {
        *(
            "cli",
            "service",
            "access",
            "people",
            "reports",
            "server",
            "solvers",
            "leaderboard",
            "lessons",
            "training",
            "whole_models",
        ),
        *(*NOUNS, *PURE, *EDGES),
    },
    "__main__": {"cli"},
    "__init__": set(),
}
"""What each part of the package may import."""
INSIDE_JUDGE: dict[str, set[str]] = {
    "protocol": set(),
    "numerics": {"protocol"},
    "supervisor": {"protocol", "numerics"},
    "gpu_on_cpu": {"protocol", "numerics"},
    "plan": {"protocol", "numerics", "gpu_on_cpu"},
    "worker": {"protocol", "numerics", "gpu_on_cpu", "plan"},
    "stages": {"protocol", "numerics", "supervisor", "worker", "plan"},
    "referee": {"protocol", "supervisor", "stages"},
    "__main__": {"referee", "supervisor", "worker"},
    "__init__": set(),
}
"""What the rooms of the judge may import, besides themselves."""
CUTTING_MODELS = ("corpus/scheduling.py", "corpus/evaluation.py", "corpus/partitioning.py", "corpus/running.py")
"""What the program that cuts whole models consists of, which runs apart from the app, in the judge's sandbox."""
WHOLE_MODELS = ("whole_models/capturing.py", "whole_models/surveying.py", "whole_models/measuring.py")
"""The programs that run somebody's model in the judge's sandbox."""
ONLY_IN = {
    "torch": ("judge", "fx", "integrate", *CUTTING_MODELS, *WHOLE_MODELS),
    "triton": ("judge",),
    "transformers": (),
    "duckdb": ("store",),
    "huggingface_hub": ("corpus/downloading.py",),
    "streamlit": (),
    "ray": ("execution/backends/cluster/driver.py",),
    "openai": ("solvers/llm/client.py",),
    "fastapi": ("server",),
    "starlette": ("server",),
    "mcp": ("server/mcp_service.py",),
    "uvicorn": ("server",),
    "prometheus_client": ("server",),
    "openenv": (),
    "verifiers": (),
    "datasets": (),
    "trl": (),
    "verl": (),
}


READ_AS_TEXT = (CORE / "bundles" / "launcher_file", CORE / "solvers" / "rules" / "helper_files")
"""Folders of files for bundles, which the package reads as text."""


def sources() -> list[Path]:
    return sorted(path for path in CORE.rglob("*.py") if path.parent not in READ_AS_TEXT)


def part_of(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


@cache
def statements(path: Path) -> list[ast.AST]:
    """The imports and the classes of a file, at whatever depth."""
    tree = ast.walk(ast.parse(path.read_text()))
    return [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef)]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module a file imports, with the line."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            if node.module == "passnet_core":
                yield from ((f"passnet_core.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module, node.lineno


def test_every_part_has_a_rule() -> None:
    parts = {part_of(path) for path in sources()}
    assert parts <= set(ALLOWED), f"no rule says what {sorted(parts - set(ALLOWED))} may import"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(CORE)))
def test_a_part_imports_only_what_its_layer_may(path: Path) -> None:
    for name, line in imports(path):
        if name.startswith("passnet_core."):
            wanted = name.split(".")[1]
            assert wanted in ALLOWED[part_of(path)] | {"__version__"}, f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(CORE)))
def test_heavy_packages_stay_where_they_belong(path: Path) -> None:
    inside = str(path.relative_to(CORE))
    for name, line in imports(path):
        package = name.split(".")[0]
        if package in ONLY_IN:
            assert inside.startswith(ONLY_IN[package]), f"{path}:{line} imports {name}"


def test_of_the_judge_only_comparison_and_plans_are_imported_elsewhere() -> None:
    comparison, plans = ("numerics", "protocol", "worker.building"), ("plan", "supervisor", "stages.census")
    judge = (*comparison, *plans, "gpu_on_cpu")
    for path in sources():
        for name, line in imports(path):
            if name.startswith("passnet_core.judge.") and part_of(path) != "judge":
                assert name.removeprefix("passnet_core.judge.").startswith(judge), f"{path}:{line} imports {name}"


def test_the_rooms_of_the_judge_import_only_what_lies_below_them() -> None:
    for path in sorted((CORE / "judge").rglob("*.py")):
        room = path.relative_to(CORE / "judge").parts[0].removesuffix(".py")
        for name, line in imports(path):
            if name.startswith("passnet_core.judge."):
                wanted = name.split(".")[2]
                assert wanted in INSIDE_JUDGE[room] | {room}, f"{path}:{line} imports {name}"


def test_no_import_leads_back_to_where_it_came_from() -> None:
    """Imports within functions and those for type checking count too: a circle is a room that should be two, or one."""
    modules = {".".join(path.relative_to(PROJECT).with_suffix("").parts): path for path in sources()}
    edges = {name: {to for to in imported_modules(path, modules) if to != name} for name, path in modules.items()}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        pytest.fail(f"an import circle: {' -> '.join(error.args[1])}")


def imported_modules(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Those of the package's own modules that a file imports; of a package, its __init__."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if any(name not in modules for name in names):
                names.append(node.module)
        else:
            continue
        yield from (name for name in names if name in modules)
        yield from (f"{name}.__init__" for name in names if f"{name}.__init__" in modules)


def test_the_client_imports_only_itself_and_the_framework_of_an_adapter() -> None:
    frameworks = {"verifiers.py": {"verifiers", "pydantic"}, "openenv.py": {"openenv", "pydantic"}}
    for path in [PROJECT / "passnet_verifiers.py", *sorted(CLIENT.rglob("*.py"))]:
        allowed = sys.stdlib_module_names | {"passnet_client"} | frameworks.get(path.name, set())
        for name, line in imports(path):
            assert name.split(".")[0] in allowed, f"{path}:{line} imports {name}"


def test_the_package_does_without_the_client() -> None:
    for path in sources():
        for name, line in imports(path):
            assert not name.startswith(("passnet_client", "passnet_verifiers")), f"{path}:{line} imports {name}"


def test_nothing_at_run_time_imports_the_developers_programs() -> None:
    for path in [PROJECT / "app.py", *sorted((PROJECT / "pages").rglob("*.py")), *sources()]:
        for name, line in imports(path):
            assert name.split(".")[0] not in {"tools", "tests"}, f"{path}:{line} imports {name}"


def test_no_class_name_stands_for_two_things() -> None:
    places: dict[str, list[str]] = {}
    for path in [*sources(), *sorted((PROJECT / "pages").rglob("*.py")), *sorted((PROJECT / "tools").rglob("*.py"))]:
        for node in statements(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path.relative_to(PROJECT)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_pages_hold_no_sql_and_no_judge() -> None:
    for path in [PROJECT / "app.py", *sorted((PROJECT / "pages").rglob("*.py"))]:
        for name, line in imports(path):
            assert name.split(".")[0] not in {"torch", "triton", "duckdb"}, f"{path}:{line} imports {name}"
            assert not name.startswith(("passnet_core.judge", "passnet_core.store")), f"{path}:{line} imports {name}"


def test_no_script_lies_flat_under_pages() -> None:
    """Streamlit would serve it alone, without the frame."""
    assert not list((PROJECT / "pages").glob("*.py"))


def test_the_service_leaves_the_heavy_packages_unloaded() -> None:
    heavy = ("torch", "triton", "ray", "streamlit")
    code = f"import sys, passnet_core.service; print([name for name in {heavy} if name in sys.modules])"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT, check=True)
    assert asked.stdout.strip() == "[]"


def test_nothing_imports_the_files_for_bundles() -> None:
    for path in [*sources(), *sorted((PROJECT / "pages").rglob("*.py")), *sorted((PROJECT / "tools").rglob("*.py"))]:
        for name, line in imports(path):
            assert not any(each.name in name for each in READ_AS_TEXT), f"{path}:{line} imports {name}"
