"""Say why tests cannot run on this machine, leave out what is settled, and record what has passed."""

import functools
import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from passnet_core.execution.backends.local import LocalBackend
from tests import which
from tests.real_judge import running_backend
from tests.waiting import seconds

EVIDENCE = pytest.StashKey[dict[str, str]]()
"""The evidence of each settled file, as it was when the run began."""
UNCHANGED = pytest.StashKey[frozenset[str]]()
"""The settled files of whose tests only a sample runs: decided once, and sent to all pytest-xdist workers."""
COUNTS = pytest.StashKey[dict[str, list[int]]]()
"""For each settled file the number of its settled tests, and how many of them are left out."""
NO_GPU = "no CUDA device"
SUBJECT = "subject"
"""The property of a test's report that has the place and the digest of what the test judges."""

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
        capture_output=True, text=True, timeout=seconds(60), check=False,
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


NEEDS: dict[str, Callable[[], str]] = {"gpu": missing_gpu, "browser": missing_browser, "sandbox": missing_sandbox}
"""What says why tests with a marker cannot run here."""


# --- which tests run -------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("settled")
    group.addoption("--unless-settled", action="store_true", help="leave out settled tests, as tests/which.py says")
    group.addoption("--record", action="store_true", help="record settled tests that passed in tests/recorded.json")
    group.addoption(
        "--without", action="append", default=[], metavar="MODULE", help="fail whatever imports this module"
    )
    fuzzing = parser.getgroup("fuzzing")
    fuzzing.addoption("--fuzz-cases", type=int, default=23, metavar="N", help="cases of each kind that are drawn")
    fuzzing.addoption("--fuzz-seed", type=int, default=35, metavar="N", help="what these cases are drawn from")


def pytest_configure(config: pytest.Config) -> None:
    sys.modules.update(dict.fromkeys(config.getoption("--without")))  # type: ignore[arg-type]
    if told := getattr(config, "workerinput", None):
        config.stash[UNCHANGED] = frozenset(told["unchanged"])
        return
    leaving = config.getoption("--unless-settled")
    config.stash[EVIDENCE] = which.evidence() if leaving or config.getoption("--record") else {}
    known = which.recorded() if leaving else {}
    config.stash[UNCHANGED] = frozenset(
        place for place, digest in config.stash[EVIDENCE].items() if known.get(place) == digest
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["unchanged"] = sorted(node.config.stash[UNCHANGED])


@pytest.hookimpl(trylast=True)  # after -m: what it deselects is no part of this run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    settled = [item for item in items if is_settled(item.keywords)]
    known, unchanged = which.recorded(), config.stash[UNCHANGED]
    left_out = {item for item in settled if which.may_be_left_out(item.nodeid, subject_of(item), known, unchanged)}
    config.stash[COUNTS] = {}
    for item in settled:
        count = config.stash[COUNTS].setdefault(which.place_of(item.path), [0, 0])
        count[0] += 1
        count[1] += item in left_out
        if (subject := subject_of(item)) is not None and item not in left_out:
            # the report of the test carries it, also from a worker process
            item.user_properties.append((SUBJECT, [which.place_of(subject), which.subject_digest(subject)]))
    kept = [item for item in items if item not in left_out]
    items[:] = in_parts(kept, getattr(config, "workerinput", {}).get("workercount", 1))
    config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))
    for marker, why_missing in NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = why_missing() if marked else ""
        if reason:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def in_parts(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in as many equal parts as pytest-xdist has workers, each of which begins with one. A part begins with
    its share of the long tests, file by file: one that starts last would leave the other workers idle."""
    long = [item for item in items if item.get_closest_marker("long")]
    files = list(dict.fromkeys(item.path for item in long))
    others = iter([item for item in items if not item.get_closest_marker("long")])
    parts = [[item for item in long if files.index(item.path) % workers == part] for part in range(workers)]
    for part in parts:
        part += itertools.islice(others, max(0, len(items) // workers - len(part)))
    return [*itertools.chain(*parts), *others]


def is_settled(keywords: Container[str]) -> bool:
    """Whether a test with these markers may be left out. What passed on a CPU says nothing of a test on a GPU."""
    return "settled" in keywords and "gpu" not in keywords


def subject_of(item: pytest.Item) -> Path | None:
    """The pass, bundle or lesson of this project that a test judges: a parameter that is its path, or has it."""
    given = getattr(item, "callspec", None)
    paths = (getattr(value, "path", value) for value in (given.params.values() if given else ()))
    return next((path for path in paths if isinstance(path, Path)), None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["settled"] = session.config.stash.get(COUNTS, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[COUNTS] = getattr(node, "workeroutput", {}).get("settled", {})


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


@pytest.fixture(autouse=True)
def _leaves_the_main_module() -> Iterator[None]:
    """A page that runs in a test becomes the main module, and processes that later tests spawn would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


# --- what is said at the end -----------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    stats = terminalreporter.stats
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not run on this machine")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:4d}  {reason}")
    if config.getoption("--unless-settled"):
        terminalreporter.section("settled tests")
        terminalreporter.write_line(what_was_left_out(config))
    if config.getoption("--record"):
        terminalreporter.write_line(recording(config, [report for each in stats.values() for report in each]))


def what_was_left_out(config: pytest.Config) -> str:
    counts = config.stash.get(COUNTS, {}).values()
    left_out, total = sum(left for _, left in counts), sum(of for of, _ in counts)
    why = "nothing that could make them fail has changed since all of them passed"
    return f"Left out {left_out:,} of {total:,}: {why} (tests/which.py). make test-all leaves out none."


def recording(config: pytest.Config, reports: list[Any]) -> str:
    """Record the settled files all of whose tests passed, and what was judged as it should be. Say so, or why not."""
    narrowed = "not all tests were asked for" if config.args_source is pytest.Config.ArgsSource.ARGS else ""
    if why := narrowed or missing_sandbox() or which.versions_not_pinned():
        return f"Nothing recorded: {why}."
    reports = [each for each in reports if isinstance(each, pytest.TestReport) and is_settled(each.keywords)]
    fine = (each for each in reports if each.passed and each.when == "call")
    ended_well = Counter(report.nodeid.partition("::")[0] for report in fine)
    now, before, counts = which.evidence(), config.stash[EVIDENCE], config.stash.get(COUNTS, {})
    whole = {place for place in now if now[place] == before[place] and counts.get(place) == [ended_well[place], 0]}
    judged = [(report.failed, *subject) for report in reports if (subject := dict(report.user_properties).get(SUBJECT))]
    wrong = {place for failed, place, _ in judged if failed}
    right = {place: digest for _, place, digest in judged if place not in wrong}
    if not which.record({place: now[place] for place in whole} | right):
        return "What is recorded holds."
    return f"Recorded what passed in {which.place_of(which.RECORD)}: commit it."
