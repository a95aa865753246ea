"""The OpenAPI documents of both services: what a generator of clients needs is in them, and answers are as they say."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from passnet_core.records import Device, Verdict
from tests.contract.judge_served import served
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Answered, Program, playground
from tests.contract.scripted import a_pass
from tests.contract.test_judge_service import as_written
from tests.fake_backend import FakeBackend

JUDGE = {
    "evaluate", "submit_evaluation", "get_evaluation", "stream_evaluation", "evaluate_batch", "open_session",
    "take_step", "get_session", "end_session", "list_tasks", "get_task", "list_prompts", "get_guide",
    "get_health", "get_metrics",
}  # fmt: skip
PROGRAMS = {
    "get_health", "get_me", "list_tasks", "get_task", "list_bundles", "get_bundle", "start_run", "list_runs", "get_run",
    "cancel_run", "share_run", "list_outcomes", "export_run", "get_scores", "list_boards",
}  # fmt: skip
"""The names of operations: generated clients have methods of these names, so they stay."""
MEDIA_TYPE = {"schema", "example", "examples", "encoding"}
"""What OpenAPI 3.1 has in a Media Type Object."""
RIGHT = a_pass(Verdict.FASTER)
BUNDLE = {"passes": [{"name": "a.py", "code": RIGHT}]}

Document = dict[str, Any]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with served(tmp_path_factory.mktemp("judge"), FakeBackend(as_written, Device.CUDA), [three_subgraphs()]) as client:
        yield Program(client.url)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder: Path = tmp_path_factory.mktemp("programs")
    with playground(folder, FakeBackend(as_written, Device.CUDA), [three_subgraphs()]) as ground:
        yield ground.program()


@pytest.fixture(params=["judge", "programs"])
def described(request: pytest.FixtureRequest) -> tuple[str, Document]:
    """The name of a service, and its document."""
    program: Program = request.getfixturevalue(request.param)
    path = "/openapi.json" if request.param == "judge" else "/api/openapi.json"
    return request.param, program.ask("GET", path).data


def operations(document: Document) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The path, the method and the description of each operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(name := part.get("$ref"), str):
            yield name
        for each in part.values():
            yield from references(each)
    elif isinstance(part, list):
        for each in part:
            yield from references(each)


def test_operations_have_names_that_stay(described: tuple[str, Document]) -> None:
    name, document = described
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert sorted(names) == sorted(JUDGE if name == "judge" else PROGRAMS)


def test_every_address_has_a_version_and_says_how_a_token_is_sent(described: tuple[str, Document]) -> None:
    name, document = described
    assert document["openapi"].startswith("3.1.")
    assert document["components"]["securitySchemes"]["Bearer"]["scheme"] == "bearer"
    for path, _, operation in operations(document):
        assert path.startswith("/v1/" if name == "judge" else "/api/v1/"), path
        is_open = operation["operationId"] == "get_health"
        assert operation["security"] == [{"Bearer": []}, *([{}] if is_open else [])], path
        declared = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", path)), path


def test_every_answer_has_a_schema_that_is_one(described: tuple[str, Document]) -> None:
    _, document = described
    for path, method, operation in operations(document):
        assert any(status.startswith("2") for status in operation["responses"]), path
        for status, response in operation["responses"].items():
            assert response["description"], (path, status)
            assert response["content"], (method, path, status)
            for media in response["content"].values():
                assert "schema" in media, (method, path, status)
                assert set(media) <= MEDIA_TYPE, (method, path, status)
                jsonschema.Draft202012Validator.check_schema(media["schema"])
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in references(document):
        found: Any = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        assert found


def check(document: Document, method: str, path: str, answered: Answered) -> None:
    """Check an answer against what the document says of it."""
    response = document["paths"][path][method.lower()]["responses"][str(answered.status)]
    (media,) = response["content"].values()
    jsonschema.validate(answered.data, {**media["schema"], "components": document["components"]})
    if isinstance(answered.data, dict) and "$ref" in media["schema"]:
        name = media["schema"]["$ref"].rsplit("/", 1)[1]
        assert set(answered.data) <= set(document["components"]["schemas"][name]["properties"]), path


def test_the_judges_answers_are_as_its_document_says(judge: Program) -> None:
    document = judge.ask("GET", "/openapi.json").data
    asked = {"task": "relu", "bundle": BUNDLE, "stage": "measure"}
    state = judge.ask("POST", "/v1/evaluations", asked)
    check(document, "POST", "/v1/evaluations", state)
    opened = judge.ask("POST", "/v1/sessions", {"task": "relu"})
    check(document, "POST", "/v1/sessions", opened)
    ids = {"{key}": state.data["key"], "{session_id}": opened.data["id"], "{task_id}": "relu"}
    bodies: dict[str, Any] = {
        "/v1/evaluate": asked,
        "/v1/evaluate/batch": {"items": [asked, {"task": "gone", "text": "x"}]},
        "/v1/sessions/{session_id}/step": {"calls": [{"name": "check"}]},
    }
    for path, method, operation in operations(document):
        place = path
        for name, value in ids.items():
            place = place.replace(name, value)
        if method == "get" and operation["operationId"] != "get_metrics":
            check(document, method, path, judge.ask("GET", place))
            for status in (404,) if "{" in path else ():
                refused = judge.ask("GET", re.sub(r"{\w+}", "gone", path))
                assert refused.status == status, path
                check(document, method, path, refused)
        elif path in bodies:
            check(document, method, path, judge.ask("POST", place, bodies[path]))
            check(document, method, path, judge.ask("POST", place, {"wrong": json.dumps(place)}))


def test_answers_to_programs_are_as_their_document_says(programs: Program) -> None:
    document = programs.ask("GET", "/api/openapi.json").data
    run = programs.judged(task="relu", bundle=BUNDLE, stage="measure")
    ids = {"{run_id}": run["run"], "{digest}": run["bundle_digest"], "{task_id}": "relu"}
    started = programs.ask("POST", "/api/v1/runs", {"task": "relu", "bundle": BUNDLE})
    check(document, "POST", "/api/v1/runs", started)
    for path, method, operation in operations(document):
        place = path
        for name, value in ids.items():
            place = place.replace(name, value)
        if method == "get" and operation["operationId"] != "export_run":
            check(document, method, path, programs.ask("GET", place))
    cancelled = programs.ask("POST", f"/api/v1/runs/{run['run']}/cancel")
    check(document, "POST", "/api/v1/runs/{run_id}/cancel", cancelled)
    shared = programs.ask("PUT", f"/api/v1/runs/{run['run']}/shared", {"shared": True})
    check(document, "PUT", "/api/v1/runs/{run_id}/shared", shared)
