"""The judge as a service, over real HTTP, with a judge whose verdicts the tests choose."""

import concurrent.futures
import http.client
import io
import json
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passnet_client import JudgeClient, JudgeError, JudgeSession
from passnet_core.cli.main import main
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import write_task
from passnet_core.execution.backends.base import Cancellation, Listen, outcome_without_judge
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import RIGHT, Device, Job, Outcome, Stage, Verdict
from passnet_core.server import running, sessions
from passnet_core.server.judge_service import ServiceLimits, judge_service
from passnet_core.server.ledger import Ledger
from passnet_core.settings import Settings
from passnet_core.training.rewards import NO_REWARD
from tests.contract.judge_served import served
from tests.contract.listening import listening
from tests.contract.made import outcome
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Program
from tests.contract.scripted import a_pass, by_its_text
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds

TOKENS = {"alice": "a-token-of-alice-0001", "bob": "b-token-of-bob-000002"}
FASTER = a_pass(Verdict.FASTER)


def as_written(job: Job) -> Outcome:
    """The verdict that the code names, at CHECK too."""
    assert job.bundle is not None
    code = job.bundle.passes[0].code
    return outcome(job, next((each for each in Verdict if f"VERDICT {each.value}" in code), Verdict.NO_MATCH))


def held_up(backend: FakeBackend) -> threading.Event:
    """Have the judge answer only once the event that is returned is set."""
    go_on = threading.Event()

    def slowly(job: Job) -> Outcome:
        assert go_on.wait(seconds(60))
        return as_written(job)

    backend.answer = slowly
    return go_on


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend(as_written, Device.CUDA)


@pytest.fixture
def judge(tmp_path: Path, backend: FakeBackend) -> Iterator[JudgeClient]:
    with served(tmp_path, backend, [three_subgraphs()]) as client:
        yield client


def bundle(code: str) -> dict[str, Any]:
    return {"passes": [{"name": "a.py", "code": code}]}


def refused(judge: JudgeClient, **asked: Any) -> JudgeError:
    with pytest.raises(JudgeError) as refusal:
        judge.evaluate(**asked)
    return refusal.value


def raw(judge: JudgeClient, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any]:
    """The status and the JSON of an answer to a request that the client would not send."""
    answered = Program(judge.url).ask(method, path, body, **headers)
    return answered.status, answered.data


# --- what a verdict is worth -----------------------------------------------------------------------------------------


def test_the_components_stand_beside_the_reward(judge: JudgeClient) -> None:
    answer = judge.evaluate("relu", bundle=bundle(FASTER), stage="measure")
    assert (answer["reward"], answer["accepted"], answer["total"]) == (pytest.approx(1 + 0.4329594), 3, 3)
    (part,) = {json.dumps({**each, "subgraph": ""}) for each in answer["parts"]}
    found = json.loads(part)
    assert (found["loads"], found["matches"], found["cheat"], found["library"]) == (True, True, False, False)
    assert found["faster"] == {"ratio": 1.5, "low": pytest.approx(1.35), "high": pytest.approx(1.65)}
    assert found["right"] == {"share": 1.0, "right_draws": 1, "draws": 1, "smallest_t": -5}
    assert [each["subgraph"] for each in answer["parts"]] == ["float32/0", "float32/1", "float32/2"]
    assert answer["judged_by"]["judge_digest"] == "fake"
    assert "right, faster" in answer["feedback"]


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - RIGHT - NO_REWARD))
def test_what_is_not_right_is_worth_nothing(judge: JudgeClient, verdict: Verdict) -> None:
    answer = judge.evaluate("relu", text=f"```python\n{a_pass(verdict)}```")
    assert (answer["reward"], answer["accepted"]) == (0.0, 0)
    assert {each["verdict"] for each in answer["parts"]} == {verdict.value}
    assert {each["cheat"] for each in answer["parts"]} == {verdict is Verdict.CHEAT}
    assert {each["library"] for each in answer["parts"]} == {verdict is Verdict.LIBRARY}


@pytest.mark.parametrize("verdict", sorted(NO_REWARD - {Verdict.MATCHED}))
def test_what_is_nobodys_fault_has_no_reward(judge: JudgeClient, verdict: Verdict) -> None:
    answer = judge.evaluate("relu", text=a_pass(verdict))
    assert answer["reward"] is None
    assert f"3 of 3 subgraphs: {verdict.value}" in answer["no_reward"]


def test_one_lost_subgraph_takes_the_reward_away_and_one_cheat_all_of_it(
    judge: JudgeClient, backend: FakeBackend
) -> None:
    verdicts = {"float32/1": Verdict.INFRASTRUCTURE}
    backend.answer = lambda job: outcome(job, verdicts.get(job.subgraph.id, Verdict.FASTER))
    assert judge.evaluate("relu", text=FASTER, stage="measure")["reward"] is None
    verdicts |= {"float32/1": Verdict.CHEAT, "float32/2": Verdict.INFRASTRUCTURE}
    assert judge.evaluate("relu", text=FASTER, stage="measure", fresh=True)["reward"] == 0.0


def test_a_check_computes_no_values_and_gives_no_reward(judge: JudgeClient, backend: FakeBackend) -> None:
    backend.answer = by_its_text
    answer = judge.evaluate("relu", text=FASTER, stage="check")
    assert (answer["reward"], answer["accepted"]) == (None, 3)
    assert {job.spec.stage for job in backend.jobs} == {Stage.CHECK}


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (f"Here it is.\n\n### write_file fused.py\n```python\n{FASTER}```\n\n### evaluate", ["fused.py"]),
        (
            f"### write_file a.py\n```\n{FASTER}```\n### write_file b.py\n```\nX = 1\n```\n### delete_file b.py",
            ["a.py"],
        ),
        (
            f"First\n```python\n# fused.py\n{FASTER}```\nthen\n```python\n# helper.py\nX = 1\n```",
            ["fused.py", "helper.py"],
        ),
        (f"<think>so</think>\n```\n{FASTER}```", ["pass_1.py"]),
        (FASTER, ["pass_1.py"]),
    ],
)
def test_a_bundle_is_read_from_a_models_text(
    judge: JudgeClient, backend: FakeBackend, text: str, files: list[str]
) -> None:
    assert judge.evaluate("relu", text=text, stage="measure")["accepted"] == 3
    assert backend.jobs[0].bundle is not None
    assert [each.name for each in backend.jobs[0].bundle.files] == files


def test_an_answer_without_end_is_the_models_fault(judge: JudgeClient) -> None:
    answer = judge.evaluate("relu", text=FASTER + "# and so on\n" * 40_000)
    assert answer["reward"] == 0.0
    assert "at most 400,000 are read" in answer["problem"]


def test_a_text_without_a_pass_is_the_models_fault(judge: JudgeClient, backend: FakeBackend) -> None:
    answer = judge.evaluate("relu", text="I would rather not.")
    assert (answer["reward"], answer["bundle_digest"], answer["total"]) == (0.0, None, 3)
    assert answer["problem"] == answer["feedback"] == "The answer has no pass: no code in it defines pattern()."
    assert backend.jobs == []


# --- keys, and what is judged again ----------------------------------------------------------------------------------


def test_a_key_is_judged_once_however_often_and_at_once_it_is_asked(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    asked: dict[str, Any] = {"task": "relu", "text": FASTER, "key": "one", "stage": "measure", "fresh": True}
    with served(tmp_path, backend, [three_subgraphs()]) as judge, concurrent.futures.ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(judge.evaluate, **asked) for _ in range(8)]
        eventually(lambda: backend.jobs)
        go_on.set()
        answers = [each.result() for each in waiting]
        assert all(each == answers[0] for each in answers)
        assert judge.evaluate(**asked) == answers[0]
        assert (judge.evaluate(**{**asked, "key": "two"})["key"], len(backend.jobs)) == ("two", 6)
        error = refused(judge, **{**asked, "text": a_pass(Verdict.CHEAT)})
        assert (error.status, error.kind) == (409, "KeyReused")
    # and after a restart
    with served(tmp_path, backend, [three_subgraphs()]) as judge:
        assert judge.evaluate(**asked) == answers[0]
        assert len(backend.jobs) == 6


def test_a_key_may_stand_in_the_header(judge: JudgeClient, backend: FakeBackend) -> None:
    body = json.dumps({"task": "relu", "text": FASTER, "fresh": True}).encode()
    (status, first), (_, second) = (
        raw(judge, "POST", "/evaluate", body, **{"Idempotency-Key": "mine"}) for _ in range(2)
    )
    assert (status, first["key"], first == second, len(backend.jobs)) == (200, "mine", True, 3)


def test_an_answer_that_a_fault_spoilt_is_not_kept_for_its_key(judge: JudgeClient, backend: FakeBackend) -> None:
    backend.answer = lambda job: outcome(job, Verdict.INFRASTRUCTURE)
    assert judge.evaluate("relu", text=FASTER, key="again")["reward"] is None
    backend.answer = as_written
    assert judge.evaluate("relu", text=FASTER, key="again", stage="verify")["reward"] is not None


def test_what_a_judge_that_died_did_not_tell_is_judged_once_more(judge: JudgeClient, backend: FakeBackend) -> None:
    died = iter([True])
    backend.answer = lambda job: outcome(job, Verdict.INFRASTRUCTURE) if next(died, False) else as_written(job)
    answer = judge.evaluate("relu", bundle=bundle(a_pass(Verdict.VALUES_ONLY)))
    assert (answer["reward"], len(backend.jobs)) == (1.0, 4)


def test_equal_jobs_are_judged_once_unless_asked_afresh(judge: JudgeClient, backend: FakeBackend) -> None:
    first = judge.evaluate("relu", text=FASTER, stage="measure")
    again = judge.evaluate("relu", bundle=bundle(FASTER) | {}, stage="measure")
    assert (first["known"], again["known"]) == (0, 0), "another file name is another bundle"
    again = judge.evaluate("relu", text=FASTER, stage="measure")
    assert (again["known"], again["reward"]) == (3, first["reward"])
    assert judge.evaluate("relu", text=FASTER, stage="measure", fresh=True)["known"] == 0
    assert len(backend.jobs) == 9


def test_equal_jobs_asked_for_at_once_are_judged_once_and_outlive_who_asked_first(
    tmp_path: Path, backend: FakeBackend
) -> None:
    go_on = held_up(backend)
    with served(tmp_path, backend, [three_subgraphs()]) as judge, concurrent.futures.ThreadPoolExecutor(8) as threads:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
        body = json.dumps({"task": "relu", "text": FASTER, "stage": "measure"})
        connection.request("POST", "/evaluate", body, {"Content-Type": "application/json"})
        eventually(lambda: backend.jobs)
        others = [threads.submit(judge.evaluate, "relu", text=FASTER, stage="measure") for _ in range(7)]
        eventually(lambda: judge.health()["evaluations"] == 8)
        connection.close()
        go_on.set()
        assert {round(each.result()["reward"], 6) for each in others} == {1.432959}
        assert 3 <= len(backend.jobs) <= 6


def test_keys_of_two_callers_do_not_meet(tmp_path: Path, backend: FakeBackend) -> None:
    with served(tmp_path, backend, [three_subgraphs()], tokens=TOKENS) as alice:
        bob = JudgeClient(alice.url, TOKENS["bob"], patience_s=0)
        assert alice.evaluate("relu", text=FASTER, key="k")["reward"] is not None
        assert bob.evaluate("relu", text=a_pass(Verdict.CHEAT), key="k")["reward"] == 0.0


# --- how much at once ------------------------------------------------------------------------------------------------


def test_too_many_are_refused_with_when_to_come_back(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    with (
        served(tmp_path, backend, [three_subgraphs()], limits=ServiceLimits(most=2)) as judge,
        concurrent.futures.ThreadPoolExecutor(4) as threads,
    ):
        kept = [threads.submit(judge.evaluate, "relu", text=FASTER) for _ in range(2)]
        eventually(lambda: judge.health()["evaluations"] == 2)
        error = refused(judge, task="relu", text=FASTER)
        assert (error.status, error.kind) == (429, "ServiceBusy")
        assert error.retry_after_s >= 1
        assert str(error).startswith("2 evaluations of at most 2 are in progress")
        patient = threads.submit(JudgeClient(judge.url, patience_s=seconds(60)).evaluate, "relu", text=FASTER)
        go_on.set()
        assert [each.result()["total"] for each in (*kept, patient)] == [3, 3, 3]
        error = refused(judge, task="relu", text=FASTER, subgraphs=["float32/9"])
        assert error.status == 404
        with pytest.raises(JudgeError, match="3 evaluations at once are more than the 2") as refusal:
            judge.ask("POST", "/evaluate/batch", {"items": [{"task": "relu", "text": FASTER}] * 3})
        assert refusal.value.status == 422
        assert judge.health()["evaluations"] == 0


def test_a_higher_priority_is_judged_first(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    with served(tmp_path, backend, [three_subgraphs()]) as judge, concurrent.futures.ThreadPoolExecutor(4) as threads:
        verdicts = (Verdict.CRASHED, Verdict.NO_MATCH, Verdict.WRONG_VALUES, Verdict.FASTER)
        done = []
        for verdict, priority in zip(verdicts, (0, -1, 0, 5)):
            asked = threads.submit(judge.evaluate, "relu", text=a_pass(verdict), stage="measure", priority=priority)
            done.append(asked)
            eventually(lambda: judge.health()["jobs"] == 3 * len(done))
        go_on.set()
        for each in done:
            each.result()
    order = [next(each for each in Verdict if f"VERDICT {each.value}" in job.bundle.passes[0].code)
             for job in backend.jobs if job.bundle]  # fmt: skip
    # the first was at work when the others came
    assert list(dict.fromkeys(order[1:])) == [Verdict.FASTER, Verdict.CRASHED, Verdict.WRONG_VALUES, Verdict.NO_MATCH]


class Patient(FakeBackend):
    """A judge that works until it is told to stop."""

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        self.jobs.append(job)
        eventually(cancelled.is_set, "who stops the judge", idle_s=60)
        return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled.")


def test_who_hangs_up_without_a_key_frees_the_judge(tmp_path: Path) -> None:
    backend = Patient(as_written)
    with served(tmp_path, backend, [three_subgraphs()]) as judge:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
        body = json.dumps({"task": "relu", "text": FASTER})
        connection.request("POST", "/evaluate", body, {"Content-Type": "application/json"})
        eventually(lambda: backend.jobs)
        connection.close()
        eventually(lambda: not judge.health()["evaluations"])
        assert len(backend.jobs) == 1


def test_a_batch_answers_each_item_for_itself(judge: JudgeClient) -> None:
    items = [
        {"task": "relu", "text": FASTER, "stage": "measure"},
        {"task": "nothing", "text": FASTER},
        {"task": "relu", "text": a_pass(Verdict.CHEAT)},
    ]
    answers = judge.ask("POST", "/evaluate/batch", {"items": items})["answers"]
    assert [each["answer"] and each["answer"]["accepted"] for each in answers] == [3, None, 0]
    assert answers[1]["error"]["kind"] == "UnknownItem"


def test_stages_are_streamed_before_the_answer(judge: JudgeClient) -> None:
    events = list(judge.stream("relu", text=FASTER, stage="measure"))
    names = [name for name, _ in events]
    assert (names.count("phase"), names.count("outcome"), names[-1]) == (3, 3, "answer")
    assert {data["subgraph"] for name, data in events if name == "phase"} == {"float32/0", "float32/1", "float32/2"}
    assert events[-1][1]["accepted"] == 3
    with pytest.raises(JudgeError, match="'nothing' is not in this corpus"):
        list(judge.stream("nothing", text=FASTER))
    assert judge.health()["evaluations"] == 0


# --- who may ask, and what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["127.0.0.1:8600", "http://localhost:abc", "http://[::1", "x y", "http://☃.net"])
def test_a_client_says_at_once_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        JudgeClient(url)


def test_only_who_has_a_token_is_served(tmp_path: Path, backend: FakeBackend) -> None:
    with served(tmp_path, backend, [three_subgraphs()], tokens=TOKENS) as alice:
        for token in ("", "wrong", TOKENS["alice"][:-1], f"{TOKENS['alice']}x", "ünïcode"):
            sent = {"Authorization": f"Bearer {token}".encode().decode("latin-1")} if token else {}
            for method, path in (("GET", "/tasks"), ("GET", "/metrics"), ("GET", "/guide"), ("POST", "/evaluate")):
                status, answer = raw(alice, method, path, b"{}" if method == "POST" else None, **sent)
                assert (status, answer["error"]["kind"]) == (401, "HTTPError")
                assert all(each not in json.dumps(answer) for each in TOKENS.values())
        assert raw(alice, "GET", "/health") == (200, {"ok": True})
        assert [each["id"] for each in alice.tasks()] == ["relu"]
        session = alice.session("relu")
        bob = JudgeClient(alice.url, TOKENS["bob"], patience_s=0)
        with pytest.raises(JudgeError) as refusal:
            bob.ask("GET", f"/sessions/{session.id}")
        assert refusal.value.status == 404


def test_a_caller_cannot_hold_the_conversations_of_all(
    tmp_path: Path, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 6)
    monkeypatch.setattr(sessions, "MOST_FILES_BYTES", 2 << 20)
    with served(tmp_path, backend, [three_subgraphs()], tokens=TOKENS) as alice:
        bob = JudgeClient(alice.url, TOKENS["bob"], patience_s=0)
        first, *_ = [alice.session("relu") for _ in range(3)]
        with pytest.raises(JudgeError, match="3 conversations of yours are held"):
            alice.session("relu")
        alice.ask("DELETE", f"/sessions/{first.id}")
        full = alice.session("relu")

        def write(client: JudgeClient, session: JudgeSession, number: int) -> Any:
            arguments = {"name": f"a{number}.py", "code": "#" * 90_000}
            asked = {"calls": [{"id": "1", "name": "write_file", "arguments": arguments}]}
            return client.ask("POST", f"/sessions/{session.id}/step", asked)

        for number in range(12):
            write(alice, full, number)
        with pytest.raises(JudgeError, match="take more than 1 MiB"):
            write(alice, full, 12)
        for session in [bob.session("relu") for _ in range(3)]:
            assert write(bob, session, 0)["results"][0]["text"].startswith("Wrote a0.py")


def test_figures_are_for_the_token_that_is_meant_for_them(tmp_path: Path, backend: FakeBackend) -> None:
    tokens = {**TOKENS, "metrics": "scraper-token-0123456789"}
    with served(tmp_path, backend, [three_subgraphs()], tokens=tokens) as alice:
        scraper = {"Authorization": f"Bearer {tokens['metrics']}"}
        with pytest.raises(JudgeError) as refusal:
            alice.ask("GET", "/metrics")
        assert refusal.value.status == 403
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(alice.url).netloc, timeout=seconds(60))
        connection.request("GET", "/metrics", headers=scraper)
        assert b"passnet_judges 1.0" in connection.getresponse().read()
        connection.close()
        for method, path in (("GET", "/tasks"), ("GET", "/guide"), ("POST", "/sessions")):
            body = b'{"task": "relu"}' if method == "POST" else None
            assert raw(alice, method, path, body, **scraper)[0] == 403, path


def test_a_page_of_another_site_changes_nothing(judge: JudgeClient) -> None:
    """A form or a beacon of it reaches a service without tokens, as any program on this machine does."""
    session = judge.session("relu")
    evil = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
    place = f"/sessions/{session.id}"
    for method, path in (("POST", "/evaluate"), ("POST", "/sessions"), ("POST", f"{place}/step"), ("DELETE", place)):
        assert raw_status(judge, method, path, evil) == 403, path
    assert judge.ask("GET", place)["id"] == session.id


def raw_status(judge: JudgeClient, method: str, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
    connection.request(method, path, b"{}", headers)
    answer = connection.getresponse()
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    connection.close()
    return answer.status


def test_a_page_of_another_site_cannot_call_it_by_a_name_of_its_own(judge: JudgeClient) -> None:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
    connection.request("GET", "/tasks", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 400
    connection.close()
    # nor send a form, which browsers let any page do
    status, answer = raw(judge, "POST", "/evaluate", b'{"task": "relu", "text": "x"}', **{"Content-Type": "text/plain"})
    assert status == 422
    assert "Access-Control" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Field required"),
        (b"{", "JSON decode error"),
        (b"[]", "valid dictionary"),
        (b'{"task": "relu"}', "Give one of bundle, text and messages."),
        (
            b'{"task": "relu", "text": "x", "bundle": {"passes": [{"name": "a.py", "code": ""}]}}',
            "one of bundle, text and messages",
        ),
        (b'{"task": "relu", "text": 3}', "text: Input should be a valid string"),
        (b'{"task": "relu", "text": "x", "stgae": "check"}', "stgae: Extra inputs are not permitted"),
        (b'{"task": "relu", "text": "x", "stage": "guess"}', "'check', 'verify' or 'measure'"),
        (b'{"task": "relu", "text": "x", "priority": 1e9}', "priority"),
        (b'{"task": "relu", "text": "x", "deadline_s": -1}', "deadline_s"),
        (b'{"task": "relu", "text": "x", "seed": 1}', "seed: Extra inputs"),
        (
            b'{"task": "relu", "bundle": {"passes": [{"name": "../a.py", "code": "x"}]}}',
            "is not a file name for a bundle",
        ),
        (b'{"task": "relu", "bundle": {"passes": []}}', "at least 1 item"),
        (b'{"task": "relu", "text": "\\ud800"}', ""),
        (b"\xff\xfe", ""),
    ],
)
def test_rubbish_is_refused_in_a_sentence(judge: JudgeClient, backend: FakeBackend, body: bytes, said: str) -> None:
    status, answer = raw(judge, "POST", "/evaluate", body)
    assert 400 <= status < 500 or (status == 200 and answer["reward"] == 0.0)
    assert said in json.dumps(answer)
    assert backend.jobs == []


def test_a_body_of_a_hundred_megabytes_is_refused_unread(judge: JudgeClient) -> None:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
    connection.putrequest("POST", "/evaluate")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(100 << 20))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_without_a_token_is_not_waited_for(tmp_path: Path, backend: FakeBackend) -> None:
    with served(tmp_path, backend, [three_subgraphs()], tokens=TOKENS) as judge:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
        connection.putrequest("POST", "/evaluate")
        connection.putheader("Content-Length", "1000")
        connection.endheaders()
        assert connection.getresponse().status == 401
        connection.close()


@pytest.mark.parametrize("path", ["/tasks/..%2F..%2Fetc", "/tasks/%2Fetc%2Fpasswd", "/sessions/..", "/nothing"])
def test_no_path_leads_out_of_the_corpus(judge: JudgeClient, path: str) -> None:
    assert raw(judge, "GET", path)[0] == 404


# --- conversations ---------------------------------------------------------------------------------------------------


def call(name: str, /, **arguments: str) -> dict[str, Any]:
    return {"id": f"call-{name}", "name": name, "arguments": arguments}


def test_a_conversation_has_the_tools_of_the_playgrounds_own(judge: JudgeClient, backend: FakeBackend) -> None:
    with judge.session("relu", stage="measure") as session:
        assert [each["role"] for each in session.messages] == ["system", "user"]
        assert [each["function"]["name"] for each in session.tools] == [
            *("write_file", "patch_file", "delete_file", "check", "evaluate"),
            *("explain", "inductor_code", "read_guide", "finish"),
        ]  # fmt: skip
        assert session.reward is None
        step = session.step(
            calls=[call("write_file", name="a.py", code=a_pass(Verdict.WRONG_VALUES)), call("evaluate")]
        )
        assert [each["role"] for each in step["messages"]] == ["tool", "tool"]
        assert [each["tool_call_id"] for each in step["messages"]] == ["call-write_file", "call-evaluate"]
        assert step["results"][1]["evaluation"]["reward"] == session.reward == 0.0
        assert "wrong values" in step["messages"][1]["content"]
        session.step(calls=[call("patch_file", name="a.py", old=Verdict.WRONG_VALUES.value, new=Verdict.FASTER.value)])
        step = session.step(calls=[{"name": "evaluate", "arguments": "{}"}, call("patch_file", name="a.py")])
        assert "takes these arguments" in step["results"][1]["text"]
        best = session.reward
        assert best == pytest.approx(1.433, abs=1e-3)
        session.step(calls=[call("write_file", name="a.py", code=a_pass(Verdict.CHEAT)), call("evaluate")])
        assert session.reward == best, "the best evaluated bundle counts, not the last"
        session.step(calls=[call("finish")])
        assert session.finished
        with pytest.raises(JudgeError, match="has ended"):
            session.step(calls=[call("check")])
    with pytest.raises(JudgeError, match="There is no conversation"):
        judge.ask("GET", f"/sessions/{session.id}")


def test_a_conversation_in_plain_text_explains_its_tools_in_text(judge: JudgeClient) -> None:
    with judge.session("relu", protocol="text") as session:
        assert session.tools == []
        assert "### write_file" in session.messages[0]["content"]
        step = session.step(text=f"### write_file a.py\n```python\n{FASTER}```\n### check")
        assert [each["role"] for each in step["messages"]] == ["user"]
        assert step["messages"][0]["content"].startswith("write_file: Wrote a.py: a pass.\n\ncheck: ")
        assert session.step(text="What now?")["messages"][0]["content"] == "Call a tool to continue, or call finish."


def test_a_lost_step_is_answered_again_and_done_once(judge: JudgeClient, backend: FakeBackend) -> None:
    session = judge.session("relu")
    asked = {"step": 1, "calls": [call("write_file", name="a.py", code=FASTER), call("check")]}
    first = judge.ask("POST", f"/sessions/{session.id}/step", asked)
    assert judge.ask("POST", f"/sessions/{session.id}/step", asked) == first
    assert len(backend.jobs) == 3
    with pytest.raises(JudgeError, match="The next step of this conversation is 2, not 5") as refusal:
        judge.ask("POST", f"/sessions/{session.id}/step", {**asked, "step": 5})
    assert refusal.value.status == 409


def test_a_conversation_may_begin_with_a_bundle(judge: JudgeClient) -> None:
    with judge.session("relu", bundle=bundle(FASTER)) as session:
        assert session.messages[-1]["content"].startswith("There is a bundle already. Repair or improve it.")
        assert session.state["files"] == {"a.py": FASTER}


def test_a_conversation_in_which_the_machine_failed_has_no_final_reward_until_one_bundle_is_right(
    judge: JudgeClient,
) -> None:
    def evaluates(session: JudgeSession, verdict: Verdict) -> None:
        write = {"name": "write_file", "arguments": {"name": "a.py", "code": a_pass(verdict)}}
        session.step(calls=[write, {"name": "evaluate"}])

    with judge.session("relu") as session:
        assert session.final_reward == 0.0
        evaluates(session, Verdict.WRONG_VALUES)
        assert session.final_reward == 0.0
        evaluates(session, Verdict.INFRASTRUCTURE)
        assert (session.reward, session.final_reward) == (0.0, None)
        evaluates(session, Verdict.VALUES_ONLY)
        assert session.final_reward == 1.0


# --- what is told ----------------------------------------------------------------------------------------------------


def test_the_service_describes_itself(judge: JudgeClient) -> None:
    document = raw(judge, "GET", "/openapi.json")[1]
    assert set(document["paths"]) >= {"/v1/evaluate", "/v1/evaluate/stream", "/v1/sessions", "/v1/health"}
    answer = document["components"]["schemas"]["EvaluationAnswer"]["properties"]
    assert answer["reward"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    judge.evaluate("relu", text=FASTER, stage="measure")
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(judge.url).netloc, timeout=seconds(60))
    connection.request("GET", "/metrics")
    figures = connection.getresponse().read().decode()
    connection.close()
    assert 'passnet_evaluations_total{end="reward"} 1.0' in figures
    assert 'passnet_verdicts_total{stage="measure",verdict="right, faster"} 3.0' in figures
    assert "passnet_judges 1.0" in figures


def test_a_task_comes_with_what_a_model_is_told_first(judge: JudgeClient) -> None:
    task = judge.task("relu")
    assert (task["split"], task["subgraph_ids"]) == ("develop", ["float32/0", "float32/1", "float32/2"])
    assert "The task is relu: 3 subgraphs" in task["messages"][1]["content"]
    assert judge.task("relu", "text")["tools"] == []
    assert judge.ask("GET", "/guide")["contract"]
    assert judge.tasks("train") == []


def test_who_waits_for_judges_that_do_not_let_go_is_told_that_the_service_stops(
    tmp_path: Path, backend: FakeBackend
) -> None:
    go_on = held_up(backend)
    write_task(three_subgraphs(), tmp_path / "tasks" / "relu")
    scheduler, ledger = Scheduler(backend), Ledger(tmp_path)
    app = judge_service(Corpus([tmp_path / "tasks"]), scheduler, ledger, tokens={}, limits=ServiceLimits())
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        with listening(app, before_end=app.state.close) as url:
            client = JudgeClient(url, patience_s=0)
            waiting = threads.submit(client.evaluate, "relu", bundle=bundle(FASTER))
            eventually(lambda: client.health()["jobs"])
        with pytest.raises(JudgeError, match="The service is stopping") as refusal:
            waiting.result(seconds(60))
        go_on.set()
    assert refusal.value.status == 503
    scheduler.close()
    ledger.close()


def test_the_greeting_counts_the_judges_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster has as many as it has room for, whatever --judges says."""
    monkeypatch.setattr(running, "serve", lambda service, address, port, started: started(port) is None)
    settings = Settings(tmp_path / "home", tmp_path / "data", Path(sys.executable))
    out = io.StringIO()
    assert main(["serve-judge"], out=out, backend=FakeBackend(as_written, judges=3), settings=settings) == 0
    assert ", 3 at once." in out.getvalue()
