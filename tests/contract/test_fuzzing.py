"""Commands, pages, conversations and requests with altered input: a clear error, nothing changed, never a traceback.

--fuzz-cases draws as many cases of each kind, --fuzz-seed others; a case is repeated by its id and its seed."""

from collections.abc import Iterator

import pytest

from tests.fuzzing.addresses import playground
from tests.fuzzing.drawing import KINDS, drawn
from tests.fuzzing.ground import Ground
from tests.fuzzing.requests import judge

SEED = 35


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        numbers = range(metafunc.config.getoption("--fuzz-cases"))
        metafunc.parametrize(("kind", "number"), [(kind, number) for number in numbers for kind in KINDS])


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("fuzzing"))
    with playground(made), judge(made):
        yield made


def test_altered_input_gets_a_clear_error_and_loses_nothing(
    ground: Ground, kind: str, number: int, request: pytest.FixtureRequest
) -> None:
    case = drawn(kind, request.config.getoption("--fuzz-seed"), number, ground)
    assert not case.problems, case.told


def test_the_store_still_has_what_was_in_it(ground: Ground) -> None:
    for number in range(20):
        drawn("lines", SEED + 1, number, ground)
    assert ground.made("runs", "list").out.count(ground.run_id) == 1
    assert ground.made("trajectories", "list", str(ground.attempts)).out.count("add-relu") == 2


def test_alterations_find_what_is_not_guarded(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def unguarded(text: str) -> object:
        raise RecursionError

    def some() -> None:
        for number in range(10):
            drawn("files", SEED, number, ground)

    monkeypatch.setattr("passnet_core.outside.from_json_text", unguarded)
    with pytest.raises(RecursionError):
        some()
