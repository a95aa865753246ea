"""The interface for programs, over real HTTP, with a judge whose verdicts the tests choose."""

import http.client
import itertools
import math
import random
import re
import threading
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.people import register as register_module
from passnet_core.people.person import ALLOWANCES, PersonRole
from passnet_core.records import Device, EvalSpec, Job, Outcome, Verdict
from passnet_core.server import entrance
from passnet_core.server.entrance import BUNDLE_BODY, SMALL_BODY
from tests.contract.made import outcome
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Answered, Playground, Program, playground
from tests.contract.scripted import a_pass
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds

FASTER = a_pass(Verdict.FASTER)


def as_written(job: Job) -> Outcome:
    """The verdict that the code names; TorchInductor is right, but not timed."""
    code = job.bundle.passes[0].code if job.bundle else ""
    return outcome(job, next((each for each in Verdict if f"VERDICT {each.value}" in code), Verdict.VALUES_ONLY))


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend(as_written, Device.CUDA)


@pytest.fixture
def alone(tmp_path: Path, backend: FakeBackend) -> Iterator[Playground]:
    with playground(tmp_path, backend, [three_subgraphs()]) as served:
        yield served


@pytest.fixture
def many(tmp_path: Path, backend: FakeBackend) -> Iterator[Playground]:
    with playground(tmp_path, backend, [three_subgraphs()], many=True) as served:
        yield served


def bundle(code: str = FASTER) -> dict[str, Any]:
    return {"passes": [{"name": "a.py", "code": code}]}


def with_token(many: Playground, token: str, method: str, path: str, body: Any = None) -> Answered:
    """The answer to somebody who sends this as a token."""
    header = f"Bearer {token}".encode().decode("latin-1")
    return Program(many.url).ask(method, path, body, Authorization=header)


def held_up(backend: FakeBackend) -> threading.Event:
    """Have the judge answer only once the event that is returned is set."""
    go_on = threading.Event()

    def slowly(job: Job) -> Outcome:
        assert go_on.wait(seconds(60))
        return as_written(job)

    backend.answer = slowly
    return go_on


# --- what a program can do -------------------------------------------------------------------------------------------


def test_a_program_finds_a_task_has_a_bundle_judged_and_reads_what_came_out(alone: Playground) -> None:
    program = alone.program()
    assert program.get("/tasks?query=relu&split=develop")["tasks"][0]["subgraphs"] == 3
    assert program.get("/tasks?query=nothing-like-it") == {"total": 0, "tasks": []}
    task = program.get("/tasks/relu")
    assert "torch.nn.functional.relu" in task["subgraphs"][1]["code"]
    assert task["subgraphs"][1]["inputs"][0] == {
        "name": "in_0", "dtype": "float32", "shape": [2, 4], "low": None, "high": None,
    }  # fmt: skip

    run = program.judged(task="relu", bundle=bundle(), stage="measure", label="mine")
    assert (run["finished"], run["accepted"], run["total"], run["verdicts"]) == (True, 3, 3, {"right, faster": 3})
    assert run["page"] == f"http://page.example/runs?run={run['run']}"
    outcomes = program.get(f"/runs/{run['run']}/outcomes")
    assert [each["subgraph"] for each in outcomes] == ["float32/0", "float32/1", "float32/2"]
    (scores,) = program.get(f"/runs/{run['run']}/scores")
    assert scores["samples"] == 3
    assert scores["aggregate_score"] == pytest.approx(1.5, rel=0.1)
    (listed,) = program.get("/runs?task=relu")
    assert (listed["run"], listed["label"], listed["accepted"]) == (run["run"], "mine", 3)
    (board,) = program.get("/boards?task=relu")
    assert [each["report"]["bundle_digest"] for each in board["standings"]] == [run["bundle_digest"]]
    stored = program.get(f"/bundles/{run['bundle_digest']}")
    assert stored["bundle"] == {"passes": [{"name": "a.py", "code": FASTER}], "helpers": []}


def test_a_stored_bundle_and_the_compiler_are_judged_by_name(alone: Playground) -> None:
    program = alone.program()
    first = program.judged(task="relu", bundle=bundle(), subgraphs=["float32/1"])
    again = program.judged(task="relu", bundle_digest=first["bundle_digest"])
    assert (again["bundle_digest"], again["total"]) == (first["bundle_digest"], 3)
    compiler = program.judged(task="relu", solver="inductor")
    assert (compiler["solver"], compiler["bundle_digest"], compiler["accepted"]) == ("inductor", None, 3)


def test_an_exported_run_is_a_run_file(alone: Playground, tmp_path: Path) -> None:
    program = alone.program()
    run = program.judged(task="relu", bundle=bundle())
    text = program.ask("GET", f"/api/runs/{run['run']}/export").data
    other = tmp_path / "other"
    with playground(other, FakeBackend(as_written), [three_subgraphs()]) as elsewhere:
        assert elsewhere.service.import_run(text) == run["run"]
        assert elsewhere.program().get(f"/runs/{run['run']}")["accepted"] == 3


def test_what_grows_comes_in_parts_and_says_how_much_there_is(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")
    made = [alice.judged(task="relu", bundle=bundle(f"{FASTER}# {n}\n"), stage="measure")["run"] for n in range(5)]
    bob.judged(task="relu", bundle=bundle())

    def parts(path: str) -> tuple[list[Any], str]:
        answered = alice.ask("GET", f"/api{path}")
        assert answered.status == 200, answered
        return answered.data, {name.lower(): value for name, value in answered.headers.items()}["x-total-count"]

    def ids(path: str) -> tuple[list[str], str]:
        data, total = parts(path)
        return [each["run"] for each in data], total

    assert ids("/runs") == (made[::-1], "5"), "a program that asks for no part gets what it got before"
    assert ids("/runs?offset=1&limit=2&mine=true&task=relu") == (made[3:1:-1], "5")
    assert ids("/runs?offset=9") == ([], "5")
    assert ids("/runs?task=gone") == ([], "0")
    outcomes, total = parts(f"/runs/{made[0]}/outcomes")
    assert (len(outcomes), total) == (3, "3")
    assert parts(f"/runs/{made[0]}/outcomes?offset=1&limit=1") == (outcomes[1:2], "3")
    (board,), total = parts("/boards")
    assert (total, board["solvers"], len(board["standings"])) == ("1", 5, 5)
    assert parts("/boards?offset=1") == ([], "1")
    for wrong in ("offset=-1", "limit=0", "limit=1001", f"offset={10**30}"):
        for path in ("/runs", f"/runs/{made[0]}/outcomes", "/boards", "/tasks"):
            assert alice.ask("GET", f"/api{path}?{wrong}").status == 422, (path, wrong)


def parts(program: Program, path: str) -> Iterator[Any]:
    """The parts of a list, each by the address that the one before it names."""
    place = f"/api/v1{path}"
    while place:
        answered = program.ask("GET", place)
        assert answered.status == 200, answered
        yield answered.data
        found = re.fullmatch(r'<(.+)>; rel="next"', answered.headers.get("link", ""))
        place = found.group(1) if found else ""


def test_a_list_of_runs_that_grows_while_it_is_read_loses_and_repeats_nothing(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")

    def judged(number: int) -> str:
        return str(alice.judged(task="relu", bundle=bundle(f"{FASTER}# {number}\n"))["run"])

    made = [judged(number) for number in range(5)]
    reading = parts(alice, "/runs?limit=2&mine=true")
    read = [each["run"] for each in next(reading)]
    judged(5)
    read += [each["run"] for part in reading for each in part]
    assert read == made[::-1]
    assert list(parts(alice, "/runs?limit=3&task=gone")) == [[]]
    assert bob.ask("GET", f"/api/v1/runs?after={made[2]}").status == 404, "nobody learns when another's run began"


def test_outcomes_that_come_out_of_order_are_read_once_each(tmp_path: Path) -> None:
    late = threading.Event()

    def out_of_order(job: Job) -> Outcome:
        if job.subgraph.id == "float32/0":
            assert late.wait(seconds(60))
        return as_written(job)

    with playground(tmp_path, FakeBackend(out_of_order, judges=2), [three_subgraphs()]) as served:
        program = served.program()
        run = program.ask("POST", "/api/v1/runs", {"task": "relu", "bundle": bundle()}).data["run"]
        eventually(lambda: program.get(f"/runs/{run}")["done"] == 2)
        reading = parts(program, f"/runs/{run}/outcomes?limit=1")
        read = [each["subgraph"] for _ in range(2) for each in next(reading)]
        assert sorted(read) == ["float32/1", "float32/2"]
        assert next(reading) == [], "more will come"
        late.set()
        eventually(lambda: program.get(f"/runs/{run}?wait_s=60")["finished"])
        read += [each["subgraph"] for part in reading for each in part]
        assert read[2:] == ["float32/0"]
        assert program.ask("GET", f"/api/v1/runs/{run}/outcomes?after=x").status == 422


def test_boards_that_change_places_while_they_are_read_are_read_once_each(alone: Playground) -> None:
    program = alone.program()
    asked: dict[str, Any] = {"task": "relu", "stage": "measure"}
    for capture, profile in (("direct", "strict"), ("compiled", "strict"), ("direct", "passnet")):
        program.judged(**asked, bundle=bundle(), capture=capture, profile=profile)

    def name(board: Any) -> tuple[str, str]:
        return board["id"], board["profile"]

    before = program.get("/boards")
    reading = parts(program, "/boards?limit=1")
    read = [name(each) for each in next(reading)]
    # where solvers can be compared comes first
    last = {name: before[-1][name] for name in ("capture", "profile")}
    program.judged(**asked, bundle=bundle(f"{FASTER}# 2\n"), **last)
    assert name(program.get("/boards")[0]) == name(before[-1])
    read += [name(each) for part in reading for each in part]
    assert sorted(read) == sorted(map(name, before))


def test_tasks_are_read_in_parts(tmp_path: Path, backend: FakeBackend) -> None:
    tasks = [replace(three_subgraphs(), id=f"relu-{number}") for number in range(5)]
    with playground(tmp_path, backend, tasks) as served:
        read = [[each["id"] for each in part["tasks"]] for part in parts(served.program(), "/tasks?limit=2&query=relu")]
    assert read == [["relu-0", "relu-1"], ["relu-2", "relu-3"], ["relu-4"]]


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_run_with_a_key_is_started_once(tmp_path: Path, backend: FakeBackend) -> None:
    asked = {"task": "relu", "bundle": bundle(), "fresh": True}

    def start(program: Program, key: str, request: dict[str, Any]) -> Answered:
        return program.ask("POST", "/api/v1/runs", request, Idempotency_Key=key)

    with playground(tmp_path, backend, [three_subgraphs()], many=True) as served:
        alice, bob = served.program("alice"), served.program("bob")
        with ThreadPoolExecutor(8) as at_once:
            answers = list(at_once.map(lambda _: start(alice, "one", asked), range(8)))
        assert {each.status for each in answers} == {202}
        (run,) = {each.data["run"] for each in answers}
        assert {each.headers["location"] for each in answers} == {f"/api/v1/runs/{run}"}
        refused = start(alice, "one", {**asked, "label": "another"})
        assert (refused.status, refused.data["error"]["kind"]) == (409, "KeyReused")
        assert start(bob, "one", asked).data["run"] != run, "keys are a person's own"
        assert start(alice, "two", asked).data["run"] != run
        assert start(alice, "x" * 201, asked).status == 422
        assert len(alice.get("/runs")) == 2
        token = alice.token
    with playground(tmp_path, backend, [three_subgraphs()], many=True) as served:
        assert start(Program(served.url, token), "one", asked).data["run"] == run, "after a restart too"


def test_a_key_whose_run_was_refused_starts_it_later(many: Playground) -> None:
    alice = many.program("alice")
    assert many.register is not None
    person, asked = many.person("alice"), {"task": "relu", "bundle": bundle()}
    many.register.ban(person, "mining coins.")
    assert alice.ask("POST", "/api/v1/runs", asked, Idempotency_Key="k").status == 403
    many.register.ban(person, "")
    many.register.spent(person.id, ALLOWANCES[PersonRole.MEMBER].device_s + 1)
    refused = [alice.ask("POST", "/api/v1/runs", asked, Idempotency_Key="k").status for _ in range(2)]
    assert refused == [429, 429]
    assert alice.get("/runs") == []


# --- addresses without a version -------------------------------------------------------------------------------------


def test_an_address_without_a_version_is_the_same(alone: Playground) -> None:
    program = alone.program()
    run = program.judged(task="relu", bundle=bundle())["run"]
    for path in ("/health", "/me", "/tasks", "/tasks/relu", "/runs", f"/runs/{run}", f"/runs/{run}/outcomes"):
        new, old = program.ask("GET", f"/api/v1{path}"), program.ask("GET", f"/api{path}")
        assert (new.status, new.data) == (200, old.data), path


def test_a_run_under_way_is_waited_for_for_a_while_and_can_be_cancelled(
    alone: Playground, backend: FakeBackend
) -> None:
    go_on = held_up(backend)
    program = alone.program()
    started = program.ask("POST", "/api/runs", {"task": "relu", "bundle": bundle()})
    assert started.headers["location"] == f"/api/runs/{started.data['run']}"
    place = f"/runs/{started.data['run']}"
    assert program.get(f"{place}?wait_s=0.3")["finished"] is False
    assert program.ask("GET", f"/api{place}/export").status == 409
    program.ask("POST", f"/api{place}/cancel")
    go_on.set()
    ended = program.get(f"{place}?wait_s=60")
    assert (ended["finished"], ended["cancelled"], ended["verdicts"]["cancelled"]) == (True, True, 2)


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"task": "gone", "bundle": bundle()}, 404, "Task 'gone'"),
    ({"task": "relu", "bundle": bundle(), "subgraphs": ["float32/9"]}, 404, "'float32/9'"),
    ({"task": "relu", "bundle_digest": "gone"}, 404, "no bundle 'gone'"),
    ({"task": "relu"}, 422, "Give bundle or bundle_digest"),
    ({"task": "relu", "solver": "inductor", "bundle": bundle()}, 422, "Give bundle or bundle_digest"),
    ({"task": "relu", "bundle": bundle(), "bundle_digest": "x"}, 422, "Give bundle or bundle_digest"),
    ({"task": "relu", "bundle": bundle(), "trails": 5}, 422, "trails"),
    ({"task": "relu", "bundle": {"passes": [{"name": "../a.py", "code": FASTER}]}}, 422, "../a.py"),
    ({"task": "relu", "bundle": bundle(), "label": "x" * 201}, 422, "label"),
]


@pytest.mark.parametrize(("asked", "status", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_a_wrong_request_is_refused_in_a_sentence(
    alone: Playground, asked: dict[str, Any], status: int, said: str
) -> None:
    answered = alone.program().ask("POST", "/api/runs", asked)
    assert answered.status == status
    assert said in answered.data["error"]["message"]
    assert alone.program().get("/runs") == []


# --- who is let in ---------------------------------------------------------------------------------------------------


def test_without_a_valid_token_nobody_is_let_in(many: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = many.program("alice")
    assert alice.get("/me")["name"] == "alice"
    assert many.register is not None
    bob = many.program("bob")
    many.register.revoke(many.register.tokens(many.person("bob"))[0].id)
    forged = alice.token[:-1] + ("A" if alice.token[-1] != "A" else "B")
    for token in ("", forged, alice.token.upper(), alice.token[1:], "passnet_", bob.token, "ü" * 40, "x" * 4000):
        for method, path in (("GET", "/api/me"), ("GET", "/api/runs"), ("POST", "/api/runs"), ("POST", "/mcp")):
            answered = with_token(many, token, method, path)
            assert answered.status == 401, (token, path)
            assert "Send a token" in answered.data["error"]["message"]
    assert many.program().ask("GET", "/api/me", Authorization=f"Basic {alice.token}").status == 401
    now = register_module.time.time()
    monkeypatch.setattr(register_module.time, "time", lambda: now + 31 * 24 * 3600)
    assert alice.ask("GET", "/api/me").status == 401


def test_whether_the_server_is_well_is_told_to_everybody(many: Playground) -> None:
    assert many.program().get("/health") == {"ok": True}
    health = many.program("alice").get("/health")
    assert (health["ok"], health["device"], health["jobs"]) == (True, "fake device", 0)


def test_nobody_sees_the_run_of_another_until_it_is_shared(many: Playground) -> None:
    alice, bob, boss = many.program("alice"), many.program("bob"), many.program("boss", PersonRole.OPERATOR)
    run = alice.judged(task="relu", bundle=bundle(), stage="measure")
    place = f"/api/runs/{run['run']}"
    ways = [("GET", place), *(("GET", f"{place}/{each}") for each in ("outcomes", "export", "scores"))]
    for method, path in [*ways, ("POST", f"{place}/cancel"), ("GET", f"/api/bundles/{run['bundle_digest']}")]:
        refused = bob.ask(method, path)
        assert refused.status == 404, path
        # as if it were not there
        gone = bob.ask(method, path.replace(run["run"], "260101-gone").replace(run["bundle_digest"], "gone"))
        told = refused.data["error"]["message"].replace(run["run"], "260101-gone").replace(run["bundle_digest"], "gone")
        assert told == gone.data["error"]["message"]
    assert bob.ask("PUT", f"{place}/shared", {"shared": True}).status == 404
    assert bob.ask("POST", "/api/runs", {"task": "relu", "bundle_digest": run["bundle_digest"]}).status == 404
    assert (bob.get("/runs"), bob.get("/boards")) == ([], [])
    assert [each["run"] for each in alice.get("/runs")] == [run["run"]]
    assert [each["run"] for each in boss.get("/runs")] == [run["run"]]
    assert len(alice.get("/boards")) == 1

    assert alice.ask("PUT", f"{place}/shared", {"shared": True}).data == {"shared": True}
    assert all(bob.ask(method, path).status == 200 for method, path in ways)
    assert bob.ask("POST", f"{place}/cancel").status == 403
    assert bob.ask("PUT", f"{place}/shared", {"shared": False}).status == 403
    assert bob.get("/runs") == []
    alice.ask("PUT", f"{place}/shared", {"shared": False})
    assert bob.ask("GET", place).status == 404


def test_runs_of_nobody_are_everybodys(many: Playground) -> None:
    bob = many.program("bob")
    made = three_subgraphs()
    run_id = many.service.submit(made, None, EvalSpec(device=Device.CUDA))
    many.service.wait(run_id)
    assert [each["run"] for each in bob.get("/runs")] == [run_id]
    assert bob.get("/runs?mine=true") == []
    assert bob.ask("POST", f"/api/runs/{run_id}/cancel").status == 403


# --- how much is judged ----------------------------------------------------------------------------------------------


def test_who_has_used_an_hours_judging_waits(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")
    assert many.register is not None
    many.register.spent(many.person("alice").id, ALLOWANCES[PersonRole.MEMBER].device_s + 1)
    me = alice.get("/me")
    assert (me["device_s"], math.floor(me["used_s"])) == (1800.0, 1801)
    refused = alice.ask("POST", "/api/runs", {"task": "relu", "bundle": bundle()})
    assert refused.status == 429
    assert "30 minutes of judging" in refused.data["error"]["message"]
    assert 3500 < int(refused.headers["retry-after"]) <= 3600
    assert bob.judged(task="relu", bundle=bundle())["accepted"] == 3


def test_a_run_ends_at_the_limit_and_says_so(many: Playground, backend: FakeBackend) -> None:
    alice = many.program("alice")
    register, person = many.register, many.person("alice")
    assert register is not None

    def long(job: Job) -> Outcome:
        register.spent(person.id, ALLOWANCES[PersonRole.MEMBER].device_s)
        return as_written(job)

    backend.answer = long
    run = alice.judged(task="relu", bundle=bundle())
    assert run["verdicts"] == {"right, faster": 1, "cancelled": 2}
    last = alice.get(f"/runs/{run['run']}/outcomes")[-1]
    assert "30 minutes of judging" in str(last)


def test_judging_is_counted_for_whom_it_was_done(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")
    alice.judged(task="relu", bundle=bundle())
    assert 0 < alice.get("/me")["used_s"] < 60
    assert bob.get("/me")["used_s"] == 0


def test_so_many_subgraphs_wait_and_no_more(
    many: Playground, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = ALLOWANCES[PersonRole.MEMBER]
    monkeypatch.setitem(ALLOWANCES, PersonRole.MEMBER, replace(allowed, jobs=4))
    go_on = held_up(backend)
    alice, bob = many.program("alice"), many.program("bob")
    assert alice.ask("POST", "/api/runs", {"task": "relu", "bundle": bundle()}).status == 202
    refused = alice.ask("POST", "/api/runs", {"task": "relu", "bundle": bundle(FASTER + "\n")})
    assert (refused.status, refused.headers["retry-after"]) == (429, "60")
    assert bob.ask("POST", "/api/runs", {"task": "relu", "bundle": bundle()}).status == 202
    go_on.set()


def test_findings_without_end_fill_no_disk(many: Playground, backend: FakeBackend) -> None:
    """A bundle chooses how much there is to say of it, and each of its outcomes says all of that."""

    def wordy(job: Job) -> Outcome:
        made = outcome(job, Verdict.REJECTED)
        found = [replace(made.findings[0], line=line, message="no" * 100) for line in range(1, 701)]
        return replace(made, findings=tuple(found))

    alice, service = many.program("alice"), many.service
    backend.answer = wordy
    run = alice.judged(task="relu", bundle=bundle())
    kept = service.kept_bytes(many.person("alice").id)
    alice.judged(task="relu", bundle=bundle(), fresh=True)
    assert service.kept_bytes(many.person("alice").id) - kept < 6_000, "the same findings are not stored again"
    assert 10_000 < kept < 40_000
    *first, last = service.outcomes(run["run"])[0].findings
    assert [each.line for each in first] == list(range(1, 51))
    assert last.message == "There are 650 more findings; the first of them is here."


def test_calls_at_the_same_time_get_no_more_past_the_limit(
    many: Playground, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = ALLOWANCES[PersonRole.MEMBER]
    monkeypatch.setitem(ALLOWANCES, PersonRole.MEMBER, replace(allowed, jobs=7))
    go_on = held_up(backend)
    alice = many.program("alice")
    runs = [{"task": "relu", "bundle": bundle(f"{FASTER}\n# {number}\n")} for number in range(24)]
    with ThreadPoolExecutor(len(runs)) as at_once:
        answers = list(at_once.map(lambda run: alice.ask("POST", "/api/runs", run).status, runs))
    assert sorted(answers) == [202] * 2 + [429] * 22, "each run has three subgraphs"
    go_on.set()


def test_nothing_is_done_for_somebody_who_is_banned(many: Playground) -> None:
    alice = many.program("alice")
    run = alice.judged(task="relu", bundle=bundle())
    assert many.register is not None
    many.register.ban(many.person("alice"), "mining coins.")
    place = f"/api/runs/{run['run']}"
    for method, path in (("GET", "/api/me"), ("GET", place), ("POST", "/api/runs"), ("POST", "/mcp")):
        refused = alice.ask(method, path, {"task": "relu", "bundle": bundle()} if method == "POST" else None)
        assert refused.status == 403, path
        assert "mining coins. Ask who runs this server." in refused.data["error"]["message"]
    many.register.ban(many.person("alice"), "")
    assert alice.get(f"/runs/{run['run']}")["accepted"] == 3


def test_what_was_done_is_in_the_log_and_no_token(many: Playground) -> None:
    alice = many.program("alice")
    run = alice.judged(task="relu", bundle=bundle())
    alice.ask("GET", f"/api/runs/{run['run']}/export")
    alice.ask("PUT", f"/api/runs/{run['run']}/shared", {"shared": True})
    assert many.register is not None
    assert [(each.person_id, each.deed, each.about) for each in reversed(many.register.log(9))] == [
        (many.person("alice").id, deed, run["run"]) for deed in ("started a run", "exported a run", "shared a run")
    ]
    kept = b"".join(path.read_bytes() for path in (many.service.settings.home).glob("people.sqlite*"))
    assert alice.token.encode() not in kept


# --- what is not served ----------------------------------------------------------------------------------------------


def test_pages_of_other_sites_cannot_call(alone: Playground) -> None:
    program = alone.program()
    assert program.ask("GET", "/api/me", Host="evil.example").status == 400
    assert program.ask("POST", "/mcp", {}, Host="evil.example").status == 400
    # what a form of another page may send without asking first
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answered = program.ask("POST", "/api/runs", b'{"task": "relu", "solver": "inductor"}', Content_Type=kind)
        assert answered.status == 422, kind
        assert program.ask("POST", "/mcp", b"{}", Content_Type=kind).status >= 400, kind
    # what it may send without a body
    for method in ("POST", "PUT", "DELETE"):
        assert program.ask(method, "/api/runs/any/cancel", Origin="http://evil.example").status == 403, method
    assert (
        program.ask("OPTIONS", "/api/runs", Origin="http://evil.example").headers.get("access-control-allow-origin")
        is None
    )
    assert program.get("/runs") == []


def test_nothing_is_read_by_a_path(alone: Playground) -> None:
    program = alone.program()
    for part in ("tasks", "runs", "bundles"):
        for name in (
            "..",
            "../../people.sqlite",
            "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "%00",
            "%ff%fe",
            "x" * 5000,
            "\\..\\",
        ):
            answered = program.ask("GET", f"/api/{part}/{name}".replace("\\", "%5C"))
            assert answered.status in (400, 404, 414), (part, name)
            assert "root:" not in str(answered.data)


@pytest.mark.parametrize(
    ("method", "path", "most"),
    [("POST", "/api/runs", BUNDLE_BODY), ("POST", "/mcp", BUNDLE_BODY), ("PUT", "/api/runs/x/shared", SMALL_BODY)],
)
def test_a_body_that_is_too_large_is_not_read(alone: Playground, method: str, path: str, most: int) -> None:
    assert begun(alone, method, path, length=most + 1).status == 413


@pytest.mark.parametrize("path", ["/api/runs", "/mcp", "/api/nothing"])
def test_who_has_no_token_is_answered_before_a_body_is_read(many: Playground, path: str) -> None:
    answered = begun(many, "POST", path, length=SMALL_BODY)
    assert answered.status == 401
    assert answered.headers["connection"] == "close", "what still comes is not waited for"


def test_a_body_has_to_come_in_time(alone: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrance, "BODY_S", 0.2)
    assert begun(alone, "POST", "/api/runs", length=1000).status == 408


def begun(served: Playground, method: str, path: str, *, length: int) -> Answered:
    """The answer to a request of which only the headers are sent, and how long its body will be."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(served.url).netloc, timeout=seconds(60))
    connection.putrequest(method, path)
    for name, value in (("Content-Type", "application/json"), ("Content-Length", str(length))):
        connection.putheader(name, value)
    connection.endheaders()
    try:
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answered(response.status, response.read().decode(), headers)
    finally:
        connection.close()


def test_nothing_is_served_that_should_not_be(many: Playground) -> None:
    assert_nothing_leaks(many, 500)


@pytest.mark.slow
def test_nothing_is_served_that_should_not_be_in_ten_thousand_calls(many: Playground) -> None:
    assert_nothing_leaks(many, 10_000)


def assert_nothing_leaks(many: Playground, calls: int) -> None:
    """Seeded calls without tokens, with forged, revoked and other persons' ones, with ids of others, and with addresses
    and bodies of all kinds show nothing of a run, and change nothing of it."""
    secret = "a-secret-of-alice"
    alice, bob = many.program("alice"), many.program("bob")
    run = alice.judged(task="relu", bundle=bundle(f"{FASTER}# {secret}\n"), label=secret, stage="measure")
    assert many.register is not None
    lapsed = many.register.issue(many.person("alice"), "", 1)
    many.register.revoke(many.register.tokens(many.person("alice"))[-1].id)
    drawn = random.Random(35)
    tokens = ["", bob.token, bob.token, lapsed, alice.token[:-2], alice.token[::-1], bob.token + "x", "null", "é"]
    ids = [run["run"], run["bundle_digest"], run["run"].upper(), f"{run['run']}%20"]
    ids += ["relu", "..", "%00", "*", "'", "1%20OR%201"]
    parts = ["runs", "bundles", "tasks", "boards", "me", "people", "log", "../home", ""]
    ends = ["?task=%00", "", "/outcomes", "/export", "/scores", "/cancel", "/shared", "?wait_s=0", "?mine=true", "/.."]
    methods = ["GET", "GET", "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"]
    by_digest = {"task": "relu", "bundle_digest": run["bundle_digest"]}
    bodies: Iterator[Any] = itertools.cycle([None, {"shared": True}, by_digest, b"{", []])
    for _ in range(calls):
        method, token = drawn.choice(methods), drawn.choice(tokens)
        path = f"/api/{drawn.choice(parts)}/{drawn.choice(ids)}{drawn.choice(ends)}"
        if drawn.random() < 0.2:
            path = f"/api/{drawn.choice(parts)}{drawn.choice(ends)}"
        body = None if method in ("GET", "HEAD") else next(bodies)
        answered = with_token(many, token, method, path, body)
        seen = (method, path, token[:12], answered)
        assert secret not in str(answered.data), seen
        assert answered.status < 500, seen
        if answered.status < 300 and "health" not in path:
            assert token == bob.token, seen
    assert alice.get(f"/runs/{run['run']}")["finished"] is True
    assert not many.register.is_shared(run["run"])
