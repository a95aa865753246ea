"""Which recorded result is the example on the first page."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.leaderboard.example import Example, example_of
from passnet_core.records import Bundle, Capture, Clock, Contender, PassFile, Profile, Speedup
from passnet_core.service import read_references
from passnet_core.settings import read_settings
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import PASS, REFERENCE, measured

LONGER = Bundle((PassFile("a.py", PASS.replace("    inside =", "    # a remark\n    inside =")),), author="reference")
TWO = Bundle((PassFile("a.py", PASS), PassFile("b.py", PASS)), author="reference")


def run(bundle: Bundle, speedup: float, inductor: float | None = 1.2) -> RunFile:
    """A run of this bundle, with TorchInductor beside it or not."""
    file = measured(bundle, speedup=speedup)
    beside = () if inductor is None else (Speedup(Contender.BASELINE, Clock.END_TO_END, inductor, inductor, inductor),)
    return replace(file, outcomes=tuple(replace(each, speedups=each.speedups + beside) for each in file.outcomes))


def chosen(*files: RunFile) -> Example:
    found = example_of(files, (REFERENCE, LONGER, TWO))
    assert found is not None
    return found


@pytest.mark.parametrize("dull", [run(REFERENCE, 1.9), run(REFERENCE, 3.0, inductor=3.1), run(REFERENCE, 9.0, None)])
def test_what_is_several_times_as_fast_as_eager_and_ahead_of_inductor_comes_first(dull: RunFile) -> None:
    assert chosen(dull, run(TWO, 2.5)).bundle == TWO
    assert not chosen(dull).convinces


def test_of_what_convinces_the_bundle_with_the_least_to_read_is_chosen() -> None:
    assert chosen(run(TWO, 9.0), run(LONGER, 5.0), run(REFERENCE, 2.5)).bundle == REFERENCE
    assert chosen(run(TWO, 9.0), run(LONGER, 5.0)).bundle == LONGER


def test_speed_decides_between_subgraphs_of_a_bundle() -> None:
    file = run(REFERENCE, 3.0)
    slower, faster = file.outcomes[0], run(REFERENCE, 4.0).outcomes[1]
    assert chosen(replace(file, outcomes=(slower, faster))).outcome == faster


def test_other_bundles_captures_and_profiles_do_not_count() -> None:
    file = run(REFERENCE, 3.0)
    compiled = replace(file, run=replace(file.run, spec=replace(file.run.spec, capture=Capture.COMPILED)))
    assert example_of([compiled, measured(REFERENCE, speedup=3.0, profile=Profile.PASSNET)], [REFERENCE]) is None
    assert example_of([file, measured(None, speedup=3.0)], [LONGER]) is None


def test_the_bundled_example_convinces_and_its_subgraph_is_here() -> None:
    data = read_settings({}).data
    _, files = exchange.read_file(Path(data) / "baselines" / "h200-references.jsonl.gz")
    found = example_of(files, [each.bundle for each in read_references(data / "bundles")[0]])
    assert found is not None
    assert found.convinces
    subgraph = Corpus([data / "tasks"]).task(found.outcome.task_id).subgraph(found.outcome.subgraph_id)
    assert subgraph.digest == found.outcome.subgraph_digest
