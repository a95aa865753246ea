"""Commands, pages, conversations, requests and what is sent to a socket, with altered input: a clear error, nothing
changed, never a traceback.

--fuzz-cases draws as many cases of each kind, --fuzz-seed others; a case is repeated by its id and its seed."""

from collections.abc import Iterator

import pytest

from tests.fuzzing import mcp_cases
from tests.fuzzing.addresses import playground
from tests.fuzzing.drawing import KINDS, drawn
from tests.fuzzing.ground import Ground
from tests.fuzzing.http_cases import with_body
from tests.fuzzing.requests import judge
from tests.fuzzing.wire import Sent, doors, problems_after

SEED = 35


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        numbers = range(metafunc.config.getoption("--fuzz-cases"))
        metafunc.parametrize(("kind", "number"), [(kind, number) for number in numbers for kind in KINDS])


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("fuzzing"))
    with playground(made), judge(made), doors(made):
        yield made


def test_altered_input_gets_a_clear_error_and_loses_nothing(
    ground: Ground, kind: str, number: int, request: pytest.FixtureRequest
) -> None:
    case = drawn(kind, request.config.getoption("--fuzz-seed"), number, ground)
    assert not case.problems, case.told


@pytest.mark.parametrize("version", [mcp_cases.TODAY, mcp_cases.BEFORE])
def test_an_agent_that_breaks_off_is_no_failure_of_the_server(ground: Ground, version: str) -> None:
    door = ground.doors["programs"]
    asking = Sent(b"POST", b"/mcp", (*door.headers(), (b"MCP-Protocol-Version", version.encode())))
    whole = with_body(asking, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}').encoded()
    assert not list(problems_after(door, whole[:-20]))


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
