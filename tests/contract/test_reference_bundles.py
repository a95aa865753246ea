"""The reference bundles, through the real judge: each matches every subgraph that it names, and is right."""

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

DATA = Path(__file__).resolve().parents[2] / "data"
FOLDERS = sorted(path.parent for path in (DATA / "bundles").glob("*/about.json"))
ROUTED = ("routed-activations", "routed-softmax")
DTYPES = ("float32", "float16", "bfloat16")
STRICT = {"pointwise-quick-gelu": "float32", "several-outputs-rmsnorm": "float16", "normalisation-rmsnorm": "bfloat16"}
"""Which dtype is judged on the harder drawings, of these bundles."""


def judged(backend: LocalBackend, subgraph: Subgraph, bundle: Bundle, stage: Stage, profile: Profile) -> Outcome:
    # PassNet's inputs, not its cap: these bundles are for any evaluation
    spec = EvalSpec(stage=stage, profile=profile, deadline_s=300.0, seed=7, replacement_cap=len(bundle.passes))
    return backend.run(Job(subgraph, bundle, spec), lambda event: None, threading.Event())


def tasks_of(folder: Path) -> list[str]:
    named: list[str] = json.loads((folder / "about.json").read_text(encoding="utf-8"))["tasks"]
    return named


def elements(subgraph: Subgraph) -> int:
    return sum(math.prod(spec.shape) for spec in subgraph.inputs)


def test_there_are_bundles_of_many_kinds() -> None:
    kinds = {folder.name.split("-")[0] for folder in FOLDERS}
    assert {"pointwise", "activation", "reduction", "normalisation", "several", "softmax", "layout", "gating"} <= kinds
    assert len(FOLDERS) >= 8


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_says_what_it_is_and_breaks_no_rule(folder: Path) -> None:
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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_matches_every_subgraph_and_is_right_in_every_dtype(backend: LocalBackend, folder: Path) -> None:
    """Values on the smallest subgraph of each dtype; the harder drawings take long, so a few bundles stand for all.

    Every subgraph of theirs was judged for data/baselines, which another test holds to these very bundles."""
    # one test per bundle: the judge starts new processes for each change of the bundle
    bundle = read_bundle(folder)
    tasks = tasks_of(folder)
    for number, task_id in enumerate(tasks):
        subgraphs = sorted(read_task(DATA / "tasks" / task_id).subgraphs, key=elements)
        assert {subgraph.dtype for subgraph in subgraphs} == set(DTYPES)
        for subgraph in subgraphs:
            outcome = judged(backend, subgraph, bundle, Stage.CHECK, Profile.PASSNET)
            assert outcome.verdict is Verdict.MATCHED, f"{task_id}/{subgraph.id}: {outcome.reason} {outcome.match}"
        # a bundle of several tasks meets its dtypes on one after the other
        for dtype in DTYPES[number :: len(tasks)]:
            subgraph = next(each for each in subgraphs if each.dtype == dtype)
            profile = Profile.STRICT if STRICT.get(folder.name) == dtype else Profile.PASSNET
            outcome = judged(backend, subgraph, bundle, Stage.VERIFY, profile)
            where = f"{task_id}/{subgraph.id}"
            assert outcome.verdict is Verdict.VALUES_ONLY, f"{where}: {outcome.reason} {outcome.log_tail}"
