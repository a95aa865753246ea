"""Commands, pages and conversations with altered input: a clear error, nothing changed, and never a traceback.

python -m tests.fuzzing draws as many cases as it is told."""

import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner

from tests.fuzzing.addresses import playground
from tests.fuzzing.drawing import KINDS, drawn
from tests.fuzzing.ground import Ground
from tests.fuzzing.requests import judge

SEED = 35
CASES = 23
"""Of each kind."""

# each page would search all installed packages for components, which takes longer than the page
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("fuzzing"))
    with playground(made), judge(made):
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_altered_input_gets_a_clear_error_and_loses_nothing(ground: Ground, kind: str) -> None:
    bad = {}
    for number in range(CASES):
        case = drawn(kind, SEED, number, ground)
        if case.problems:
            bad[f"{kind} {number}: {case.told}"] = case.problems
    assert not bad


def test_the_store_still_has_what_was_in_it(ground: Ground) -> None:
    for number in range(20):
        drawn("lines", SEED + 1, number, ground)
    assert ground.made("runs", "list").out.count(ground.run_id) == 1
    assert ground.made("trajectories", "list", str(ground.attempts)).out.count("add-relu") == 2


def test_alterations_find_what_is_not_guarded(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def unguarded(text: str) -> object:
        raise RecursionError

    monkeypatch.setattr("passnet_core.outside.from_json_text", unguarded)
    assert any(drawn("files", SEED, number, ground).problems for number in range(10))
