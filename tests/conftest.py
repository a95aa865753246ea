"""Decides which tests this machine can run, and says of the others why not."""

import functools
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]

if "PYTEST_XDIST_WORKER" in os.environ:
    # several judges share the cores: more threads than these would mostly wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@functools.cache
def missing_gpu() -> str:
    """Why there is no GPU to test on; empty: there is one. Asked in a child, so that no test process loads torch."""
    asked = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return "" if asked.stdout.strip() == "True" else "no CUDA device"


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
    """The browser of the system."""
    named = os.environ.get("PASSNET_CHROMIUM")
    return named or next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)


NEEDS = {"gpu": missing_gpu, "browser": missing_browser, "sandbox": missing_sandbox}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, why_missing in NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = why_missing() if marked else ""
        if reason:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.section("not run on this machine")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:4d}  {reason}")
