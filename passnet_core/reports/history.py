"""What sets a run apart from the run before it of the same visitor on the same tasks, in a few words."""

import functools
from collections.abc import Callable, Iterator

from passnet_core.records import Bundle, Run
from passnet_core.reports.authors import is_imported
from passnet_core.reports.comparison import Fate, FileChange, file_changes, spec_facts
from passnet_core.store.rows import EarlierRun, RunSummary

BundleOf = Callable[[str], Bundle | None]
"""The bundle of this digest; None: it is not here."""
FILES_NAMED = 2
SETTINGS: dict[str, str] = {
    "stage": "other stage: {}",
    "capture": "other capture: {}",
    "profile": "other rules: {}",
    "baseline": "other baseline: {}",
    "timed blocks": "{} timed blocks",
    "seed": "other seed",
    "deadline": "other deadline: {}",
    "most replacement functions": "other cap on replacements: {}",
}
"""The properties of a spec that tell runs apart, and what is said of one that differs."""


def label_of(summary: RunSummary, bundle_of: BundleOf) -> str:
    """Return what differs from the run before it: "passes changed: fuse.py +3 −1", "same code", "first run".

    A run from a file is only called recorded or imported. bundle_of is asked only where the passes differ."""
    run, before = summary.run, summary.before
    if run.recorded:
        return "imported" if is_imported(run) else "recorded"
    if before is None:
        return "first run"
    differing = "; ".join(_differences(summary, before, bundle_of))
    return differing or ("same code" if run.bundle_digest else "the same again")


def _differences(summary: RunSummary, before: EarlierRun, bundle_of: BundleOf) -> Iterator[str]:
    run, old = summary.run, before.run
    if run.solver is not old.solver:
        yield f"{_solver(run)} instead of {_solver(old)}"
    elif run.bundle_digest != old.bundle_digest:
        bundles = bundle_of(old.bundle_digest or ""), bundle_of(run.bundle_digest or "")
        yield changed_words(*bundles)
    if summary.total != len(old.job_digests):
        yield f"{summary.total} subgraph{'' if summary.total == 1 else 's'} instead of {len(old.job_digests)}"
    elif not before.same_subgraphs:
        yield "other subgraph" if summary.total == 1 else "other subgraphs"
    if run.spec.device is not old.spec.device or (summary.device and before.device and summary.device != before.device):
        yield "other device"
    for (name, now), (_, then) in zip(spec_facts(run.spec), spec_facts(old.spec)):
        if name in SETTINGS and now != then:
            yield SETTINGS[name].format(now)


def _solver(run: Run) -> str:
    return run.spec.names[run.solver.contender]


@functools.lru_cache(maxsize=1024)
def changed_words(before: Bundle | None, after: Bundle | None) -> str:
    """Say which files differ between two bundles, with the numbers of lines added and removed. None: not known."""
    if before is None or after is None:
        return "passes changed"
    changes = [each for each in file_changes(before, after) if each.fate is not Fate.SAME]
    if not changes:
        return "order of the passes changed"
    named = [_file_words(each) for each in changes[:FILES_NAMED]]
    more = len(changes) - FILES_NAMED
    if more > 0:
        named.append(f"{more} more file{'' if more == 1 else 's'}")
    return f"passes changed: {', '.join(named)}"


def _file_words(change: FileChange) -> str:
    if change.fate in (Fate.ADDED, Fate.REMOVED):
        return f"{change.name} {change.fate.value}"
    lines = [line[:1] for line in change.diff.splitlines()]
    return f"{change.name} +{lines.count('+')} −{lines.count('-')}"
