"""The reference bundles before the real judge: each matches every subgraph of its tasks, and its values are right."""

import json
import math
import threading
from pathlib import Path

import pytest

from passnet_core.bundles.reading import read_bundle
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.corpus.layout import read_task
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, EvalSpec, Job, Outcome, Profile, Stage, Subgraph, Verdict
from tests.contract import references
from tests.contract.judging import ample_s

DATA = Path(__file__).resolve().parents[2] / "data"
FOLDERS = references.REFERENCES
ROUTED = ("routed-activations", "routed-softmax")
DTYPES = ("float32", "float16", "bfloat16")
STRICT = {
    "pointwise-quick-gelu": ("float32",),
    "several-outputs-rmsnorm": ("float16",),
    "normalisation-rmsnorm": ("bfloat16",),
    # they take a view of what they are given, which PassNet's warm-up refuses
    "activation-batchnorm": DTYPES,
    "gating-swiglu": DTYPES,
    "softmax-softcap": DTYPES,
}
"""The bundles that are judged by the strict profile, with its harder input draws, and the dtypes in which they are."""


def judged(backend: LocalBackend, subgraph: Subgraph, bundle: Bundle, stage: Stage, profile: Profile) -> Outcome:
    # PassNet's inputs without its replacement cap: these bundles are for any evaluation
    spec = EvalSpec(stage=stage, profile=profile, deadline_s=ample_s(), seed=7, replacement_cap=len(bundle.passes))
    return backend.run(Job(subgraph, bundle, spec), lambda event: None, threading.Event())


def elements(subgraph: Subgraph) -> int:
    return sum(math.prod(spec.shape) for spec in subgraph.inputs)


def test_the_reference_bundles_cover_many_kinds_of_fusion() -> None:
    kinds = {folder.name.split("-")[0] for folder in FOLDERS}
    assert {"pointwise", "activation", "reduction", "normalisation", "several", "softmax", "layout", "gating"} <= kinds
    assert len(FOLDERS) >= 8


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_reference_bundle_is_described_and_breaks_no_rule(folder: Path) -> None:
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    assert set(about) == {"title", "description", "tasks"}
    assert f"| {folder.name} |" in (DATA / "bundles" / "README.md").read_text(encoding="utf-8")
    bundle = read_bundle(folder)
    assert findings(bundle) == ()
    assert all(file.code.startswith('"""') for file in bundle.files)


@pytest.mark.parametrize("name", ROUTED)
def test_a_routed_bundle_needs_one_replacement_function(name: str) -> None:
    bundle = read_bundle(DATA / "bundles" / name)
    assert len(bundle.passes) >= 2
    assert findings(bundle, replacement_cap=1) == ()


@pytest.mark.settled
@pytest.mark.parametrize("judged_reference", FOLDERS, ids=lambda folder: folder.name)
def test_a_reference_bundle_matches_every_subgraph_and_has_right_values(
    backend: LocalBackend, judged_reference: Path
) -> None:
    """Judge the smallest subgraph of each dtype. The harder input draws take long, so only a few bundles get them.

    data/baselines holds outcomes for all their subgraphs; another test checks that they are of these bundles."""
    # one test per bundle, because the judge starts new processes whenever the bundle changes
    folder = judged_reference
    bundle = read_bundle(folder)
    tasks = references.tasks_of(folder)
    for number, task_id in enumerate(tasks):
        subgraphs = sorted(read_task(DATA / "tasks" / task_id).subgraphs, key=elements)
        assert {subgraph.dtype for subgraph in subgraphs} == set(DTYPES)
        for subgraph in subgraphs:
            outcome = judged(backend, subgraph, bundle, Stage.CHECK, Profile.PASSNET)
            assert outcome.verdict is Verdict.MATCHED, f"{task_id}/{subgraph.id}: {outcome.reason} {outcome.match}"
        # the dtypes are divided among the tasks of a bundle
        for dtype in DTYPES[number :: len(tasks)]:
            subgraph = next(each for each in subgraphs if each.dtype == dtype)
            profile = Profile.STRICT if dtype in STRICT.get(folder.name, ()) else Profile.PASSNET
            outcome = judged(backend, subgraph, bundle, Stage.VERIFY, profile)
            where = f"{task_id}/{subgraph.id}"
            assert outcome.verdict is Verdict.VALUES_ONLY, f"{where}: {outcome.reason} {outcome.log_tail}"
