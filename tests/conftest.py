"""Mark every test with its needs, select the tests of a lane, and report why tests cannot run on this machine."""

import functools
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Device
from tests import areas, lanes
from tests.adversarial import full_run
from tests.adversarial.corpus import Entry
from tests.areas import AREAS
from tests.lanes import BROWSER, GPU, JUDGE, SANDBOX, SLOW, TESTS, TORCH
from tests.real_judge import running_backend

PROJECT = TESTS.parent

PLAN = pytest.StashKey[full_run.Plan]()
"""The files of the adversarial corpus to judge: decided once, and sent to all pytest-xdist workers."""
DIGESTS = pytest.StashKey[dict[str, str]]()
"""The digests of the areas as they were when the run began."""
STATE = pytest.StashKey[full_run.State]()
"""What the verdicts depend on, as it was when the run began."""
NO_GPU = "no CUDA device"
CORPUS_FILE = "corpus file"
"""The property of a test's report that names the corpus file which the test judged on the CPU."""

# no deadline: a busy machine must not fail a property
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

if "PYTEST_XDIST_WORKER" in os.environ:
    # several judges share the cores: with more threads they would mostly wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")


# --- what this machine lacks -----------------------------------------------------------------------------------------


@functools.cache
def missing_gpu() -> str:
    """Why there is no GPU to test on, or empty. A child process asks torch, so that no test process loads it."""
    if shutil.which("nvidia-smi") is None:
        # the judge, too, finds devices with it
        return NO_GPU
    asked = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return "" if asked.stdout.strip() == "True" else NO_GPU


@functools.cache
def missing_browser() -> str:
    return "" if chromium() else "no Chromium: apt-get install chromium"


@functools.cache
def missing_sandbox() -> str:
    if shutil.which("bwrap") is None:
        return "no bubblewrap: apt-get install bubblewrap"
    tried = subprocess.run(
        ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"bubblewrap cannot start here: {tried.stderr.strip()[:120]}"


def chromium() -> str | None:
    """The path of the system's Chromium; PASSNET_CHROMIUM overrides it."""
    named = os.environ.get("PASSNET_CHROMIUM")
    return named or next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)


NEEDS: dict[str, Callable[[], str]] = {GPU: missing_gpu, BROWSER: missing_browser, SANDBOX: missing_sandbox}


# --- which tests run -------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lanes")
    group.addoption(
        "--lane",
        choices=[each.value for each in lanes.Lane],
        help="run the tests of make smoke, test or test-all; by default all given tests run and nothing is recorded",
    )
    group.addoption(
        "--corpus-turn",
        type=int,
        metavar="N",
        help="which sample of the adversarial corpus the lane 'test' judges; by default the number of the day (UTC)",
    )

    group.addoption(
        "--area",
        action="append",
        default=[],
        choices=sorted(AREAS),
        help="run all tests of this area, and record it if none fails; may be repeated",
    )

    fuzzing = parser.getgroup("fuzzing")
    fuzzing.addoption("--fuzz-cases", type=int, default=23, metavar="N", help="cases of each kind that are drawn")
    fuzzing.addoption("--fuzz-seed", type=int, default=35, metavar="N", help="what these cases are drawn from")


def config_areas(config: pytest.Config) -> tuple[str, ...]:
    """The areas that --area names."""
    return tuple(config.getoption("--area"))


def lane_of(config: pytest.Config) -> lanes.Lane | None:
    named = config.getoption("--lane")
    return lanes.Lane(named) if named else None


def pytest_configure(config: pytest.Config) -> None:
    lane = lane_of(config)
    if told := getattr(config, "workerinput", None):
        files, why, day, areas_changed = told["corpus plan"]
        config.stash[PLAN] = full_run.Plan(
            None if files is None else frozenset(files), why, day, frozenset(areas_changed)
        )
        return
    config.stash[PLAN] = full_run.Plan(None, "all were asked for")
    if lane in (lanes.Lane.TEST, lanes.Lane.ALL):
        config.stash[STATE] = full_run.state()
    if lane is lanes.Lane.TEST:
        turn = config.getoption("--corpus-turn") or full_run.today()
        by_rule = frozenset(full_run.file_of(each) for each in full_run.on_cpu() if each.by_rule)
        plan = full_run.planned(config.stash[STATE], full_run.read(), by_rule, turn)
        config.stash[PLAN] = replace(plan, areas=areas.changed())
    if lane is lanes.Lane.ALL or config_areas(config):
        config.stash[DIGESTS] = areas.digests()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the plan to each pytest-xdist worker: all must collect the same tests, also around midnight."""
    plan = node.config.stash[PLAN]
    files = None if plan.files is None else sorted(plan.files)
    node.workerinput["corpus plan"] = [files, plan.why, plan.day, sorted(plan.areas)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip test files that the smoke lane does not run before they are imported: importing may load torch."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if lane_of(config) is lanes.Lane.SMOKE and is_test and not lanes.in_smoke(lanes.place_of(collection_path)):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for marker in lanes.markers_of(name_of(item), getattr(item, "fixturenames", ())):
            item.add_marker(marker)
    left_out = [item for item in items if not wanted(config, item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if item not in set(left_out)]
    items[:] = sorted(kept, key=lambda item: lanes.turn(name_of(item)))
    for item in items:
        if (file := corpus_file(item)) is not None:
            # the report of the test carries it, also from a worker process
            item.user_properties.append((CORPUS_FILE, file))
    for marker, why_missing in NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = why_missing() if marked else ""
        if reason:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def wanted(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether the lane, or the areas that were named, have this test."""
    if (named := config_areas(config)) and (lanes.area_of(name_of(item)) not in named or item.get_closest_marker(SLOW)):
        return False
    if lane_of(config) in (lanes.Lane.SMOKE, lanes.Lane.TEST) and item.get_closest_marker(SLOW):
        return False
    if lane_of(config) is lanes.Lane.SMOKE:
        return lanes.in_smoke(name_of(item))
    plan, file, name = config.stash[PLAN], corpus_file(item), name_of(item)
    if plan.files is None:
        return True
    if (area := lanes.area_of(name)) is not None:
        together = AREAS[area].tests[0] if AREAS[area].together else name
        return area in plan.areas or lanes.has_its_day(together, plan.day)
    if lanes.is_of_the_judge(name):
        return launched_reference(item) in plan.files or lanes.has_its_day(name, plan.day)
    return file is None or file in plan.files


def launched_reference(item: pytest.Item) -> str:
    """The reference bundle that a test launches without judging it, or an empty name."""
    given = getattr(item, "callspec", None)
    return full_run.reference_of(given.params["launched"]) if given and "launched" in given.params else ""


def name_of(item: pytest.Item) -> str:
    """The name of a test as tests/lanes.py spells it: file, function and case."""
    _, colons, inside = item.nodeid.partition("::")
    return lanes.place_of(item.path) + colons + inside


def corpus_file(item: pytest.Item) -> str | None:
    """The file of the adversarial corpus, the reference bundle or the lesson that a test judges on the CPU, or None."""
    given = getattr(item, "callspec", None)
    if given is None:
        return None
    if (reference := given.params.get("judged_reference")) is not None:
        return full_run.reference_of(reference)
    if (lesson := given.params.get("judged_lesson")) is not None:
        return full_run.lesson_of(lesson)
    if not isinstance(given.params.get("entry"), Entry) or given.params.get("device") is not Device.CPU:
        return None
    return full_run.file_of(given.params["entry"])


# --- what runs them --------------------------------------------------------------------------------------------------


def shared_home(factory: pytest.TempPathFactory) -> Path:
    """One home folder for the judges of all processes of a run: what one of them chose for a subgraph, or compiled, the
    others find there."""
    base = factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "home"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture(scope="session")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    """The real judge in its sandbox. All tests of a process share it, so that torch starts once for them."""
    with running_backend(shared_home(tmp_path_factory)) as made:
        yield made


@pytest.fixture
def own_backend(tmp_path: Path) -> Iterator[LocalBackend]:
    """A real judge of its own, for a test that ends or breaks it."""
    with running_backend(tmp_path / "home") as made:
        yield made


JUDGES_STARTED: list[str] = []


def _notice(event: str, given: tuple[Any, ...]) -> None:
    # "describe" loads no torch and ends at once
    if event == "subprocess.Popen" and "passnet_core.judge" in given[1] and "describe" not in given[1]:
        JUDGES_STARTED.append(str(given[1]))


sys.addaudithook(_notice)


@pytest.fixture(autouse=True)
def _leaves_the_main_module() -> Iterator[None]:
    """A page that runs in a test becomes the main module, and processes that later tests spawn would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True)
def _needs_only_what_its_markers_say(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that loads torch or starts a judge without being marked so in tests/lanes.py."""
    loaded, started = "torch" in sys.modules, len(JUDGES_STARTED)
    yield
    marked = {each.name for each in request.node.iter_markers()}
    test = name_of(request.node)
    assert loaded or TORCH in marked or "torch" not in sys.modules, f"mark {test} as {TORCH!r} in tests/lanes.py"
    assert JUDGE in marked or len(JUDGES_STARTED) == started, f"mark {test} as {JUDGE!r} in tests/lanes.py"


# --- what is said at the end -----------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    stats = terminalreporter.stats
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not run on this machine")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:4d}  {reason}")
    if lane_of(config) in (lanes.Lane.TEST, lanes.Lane.ALL):
        told = (dict(report.user_properties).get(CORPUS_FILE) for report in stats.get("passed", []))
        passed = {str(file) for file in told if file is not None}
        terminalreporter.section("adversarial corpus")
        for line in corpus_summary(config, passed, failed=exitstatus != pytest.ExitCode.OK):
            terminalreporter.write_line(line)
    if DIGESTS in config.stash:
        terminalreporter.section("areas")
        for line in areas_summary(config, failed=exitstatus != pytest.ExitCode.OK, lacking=set(reasons) - {NO_GPU}):
            terminalreporter.write_line(line)


def areas_summary(config: pytest.Config, *, failed: bool, lacking: set[str]) -> list[str]:
    """Record the areas all of whose tests ran, if nothing failed, and say so. lacking: what the machine lacks."""
    chosen = config.option
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not (
        chosen.keyword or chosen.markexpr or chosen.deselect or chosen.collectonly or getattr(chosen, "lf", False)
    )
    if failed or lacking or not whole:
        return ["Not recorded: something failed, or not every test ran."]
    names = config_areas(config) or tuple(AREAS)
    now = areas.digests()
    kept = {name: now[name] for name in names if now[name] == config.stash[DIGESTS][name]}
    areas.record(kept)
    lines = [f"Recorded in {areas.RECORD.relative_to(PROJECT)}: {', '.join(sorted(kept))}."] if kept else []
    return [*lines, *(f"Not recorded: {name} changed during the run." for name in names if name not in kept)]


def corpus_summary(config: pytest.Config, passed: set[str], *, failed: bool) -> list[str]:
    """Say how many files were judged and why these. Record a full run in which nothing failed."""
    state, plan = config.stash[STATE], config.stash[PLAN]
    lines = [f"{len(passed)} of {len(state.files)} files got their verdict ({plan.why})."]
    if lane_of(config) is lanes.Lane.TEST:
        if plan.files is not None:
            told = f"changed: {', '.join(sorted(plan.areas))}" if plan.areas else "none of which changed"
            lines.append(f"Tests of the judge alone, and of areas ({told}), run on one of {lanes.DAYS} days each.")
        return [*lines, "All of them: make test-all. The same sample: pytest --lane test --corpus-turn N."]
    if failed or passed != state.files.keys():
        return [*lines, "Not recorded: something failed, or not every file was judged."]
    if full_run.state() != state:
        return [*lines, "Not recorded: the judge or a file changed during the run."]
    full_run.write(state)
    return [*lines, f"Recorded in {full_run.RECORD.relative_to(PROJECT)}."]
