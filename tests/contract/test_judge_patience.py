"""A client of the judge's service that has to wait: asks again after a timeout, submits and comes back, hears of a
stream that broke off, and follows nobody to another host."""

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from passnet_client import JudgeClient, JudgeError
from passnet_core.records import Device, Verdict
from passnet_core.server.judge_service import ServiceLimits
from tests.contract.judge_served import served
from tests.contract.made import outcome
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Program
from tests.contract.scripted import a_pass
from tests.contract.test_judge_service import TOKENS, as_written, bundle, held_up
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds, short

RIGHT = a_pass(Verdict.VALUES_ONLY)
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend(as_written, Device.CUDA)


@pytest.fixture
def judge(tmp_path: Path, backend: FakeBackend) -> Iterator[JudgeClient]:
    with served(tmp_path, backend, [three_subgraphs()]) as client:
        yield client


@contextlib.contextmanager
def answering(*answers: Answer) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A server that gives these answers in turn, the last one again and again. Yields its address, and the method, the
    path and the Authorization of each request."""
    heard: list[tuple[str, str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            heard.append((self.command, self.path, self.headers.get("Authorization", "")))
            answers[min(len(heard), len(answers)) - 1](self)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()


def broken_stream(handler: http.server.BaseHTTPRequestHandler) -> None:
    """An event, and then the end of a process."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    event = b'event: phase\ndata: {"phase": "start"}\n\nevent: answer\ndata: {"rew'
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
    handler.close_connection = True


def ended_stream(handler: http.server.BaseHTTPRequestHandler) -> None:
    """A stream that ends as it should, but without the answer."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b'event: phase\ndata: {"phase": "start"}\n\n')
    handler.close_connection = True


def garbled_stream(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b'event: phase\ndata: {"phase": "start"}\n\nevent: answer\ndata: oh\xff\n\n')
    handler.close_connection = True


def redirect(status: int, place: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Location", place)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


# --- timeouts --------------------------------------------------------------------------------------------------------


def test_who_waits_longer_than_the_timeout_asks_again_and_nothing_is_judged_twice(
    tmp_path: Path, backend: FakeBackend
) -> None:
    go_on = held_up(backend)
    limits = ServiceLimits(most=2)
    with served(tmp_path, backend, [three_subgraphs()], limits=limits) as judge, ThreadPoolExecutor(1) as threads:
        hasty = JudgeClient(judge.url, patience_s=seconds(60), timeout_s=short(0.1))
        asked: list[str] = []
        opened = hasty._opened

        def counted(method: str, path: str, body: Any = None) -> Any:
            asked.append(path)
            return opened(method, path, body)

        hasty._opened = counted  # type: ignore[method-assign]
        waiting = threads.submit(hasty.evaluate, "relu", text=RIGHT, fresh=True)
        eventually(lambda: asked.count("/evaluate") >= 2, "the second request", idle_s=10)
        assert judge.health()["evaluations"] == 1, "who asks again takes no further room"
        go_on.set()
        assert waiting.result()["reward"] == 1.0
        assert len(backend.jobs) == 3


def test_who_asks_a_service_that_is_silent_gives_up() -> None:
    silent = threading.Event()

    def say_nothing(handler: http.server.BaseHTTPRequestHandler) -> None:
        silent.wait(seconds(30))

    with answering(say_nothing) as (url, heard):
        with pytest.raises(JudgeError, match="has not answered within 0 s") as failure:
            JudgeClient(url, patience_s=0, timeout_s=0.2).evaluate("relu", text=RIGHT)
        silent.set()
    assert failure.value.status == 0
    assert [path for _, path, _ in heard] == ["/v1/evaluate", "/v1/health"]


def test_a_step_that_is_still_at_work_is_waited_for(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    with served(tmp_path, backend, [three_subgraphs()]) as judge, ThreadPoolExecutor(2) as threads:
        session = judge.session("relu")
        write = {"name": "write_file", "arguments": {"name": "a.py", "code": RIGHT}}
        asked = {"step": 1, "calls": [write, {"name": "evaluate"}]}
        path = f"/sessions/{session.id}/step"
        first = threads.submit(judge.ask, "POST", path, asked)
        eventually(lambda: backend.jobs)
        again = threads.submit(judge.ask, "POST", path, asked)
        eventually(lambda: judge.health()["evaluations"] == 2)
        with pytest.raises(JudgeError, match="still at work"):
            judge.ask("POST", path, {"calls": [write]})
        go_on.set()
        assert first.result() == again.result()
        assert len(backend.jobs) == 3


# --- submitting ------------------------------------------------------------------------------------------------------


def test_what_is_submitted_is_judged_while_nobody_waits(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    with served(tmp_path, backend, [three_subgraphs()], limits=ServiceLimits(most=2)) as judge:
        keys = [judge.submit("relu", text=RIGHT), judge.submit("relu", bundle=bundle(RIGHT), key="mine/1 é")]
        assert keys[1] == "mine/1 é"
        assert [judge.answer_to(key, within_s=0) for key in keys] == [None, None]
        assert judge.submit("relu", bundle=bundle(RIGHT), key="mine/1 é") == "mine/1 é", "asking again needs no room"
        with pytest.raises(JudgeError) as refusal:
            judge.submit("relu", text=RIGHT)
        assert refusal.value.status == 429
        go_on.set()
        answers = [judge.answer_to(key) for key in keys]
        assert [each and each["reward"] for each in answers] == [1.0, 1.0]
        assert judge.answer_to(keys[0]) == answers[0], "as often as it is asked for"
        assert judge.evaluate("relu", bundle=bundle(RIGHT), key=keys[1]) == answers[1]
        eventually(lambda: judge.health()["evaluations"] == 0)
    with served(tmp_path, backend, [three_subgraphs()]) as judge:
        assert judge.answer_to(keys[0]) == answers[0], "after a restart too"


def test_an_address_of_a_submission_is_what_the_header_says(judge: JudgeClient) -> None:
    program = Program(judge.url)
    for prefix in ("/v1", ""):
        answered = program.ask("POST", f"{prefix}/evaluations", {"task": "relu", "text": RIGHT})
        place = answered.headers["location"]
        assert (answered.status, place) == (202, f"{prefix}/evaluations/{answered.data['key']}")
        told = program.ask("GET", f"{place}?wait_s=60").data
        assert (told["answer"]["reward"], told["error"], told["status"]) == (1.0, None, None)
    assert program.ask("GET", f"{place}?wait_s=61").status == 422


def test_what_cannot_be_judged_is_refused_when_it_is_submitted(judge: JudgeClient) -> None:
    for asked, status in (
        ({"task": "gone", "text": RIGHT}, 404),
        ({"task": "relu", "bundle": {"passes": [{"name": "../a.py", "code": RIGHT}]}}, 422),
        ({"task": "relu"}, 422),
    ):
        with pytest.raises(JudgeError) as refusal:
            judge.submit(**asked)
        assert refusal.value.status == status
    judge.answer_to(judge.submit("relu", text=RIGHT, key="one"))
    with pytest.raises(JudgeError) as refusal:
        judge.submit("relu", text=RIGHT + "\n# other", key="one")
    assert (refusal.value.status, refusal.value.kind) == (409, "KeyReused")
    assert judge.health()["evaluations"] == 0


def test_an_answer_that_a_fault_spoilt_is_told_and_what_is_submitted_again_is_judged_again(
    judge: JudgeClient, backend: FakeBackend
) -> None:
    backend.answer = lambda job: outcome(job, Verdict.INFRASTRUCTURE)
    key = judge.submit("relu", text=RIGHT, key="again")
    for _ in range(2):
        answer = judge.answer_to(key)
        assert answer is not None
        assert answer["reward"] is None
    backend.answer = as_written
    answer = judge.answer_to(judge.submit("relu", text=RIGHT, key="again"))
    assert answer is not None
    assert answer["reward"] == 1.0


def test_nobody_reads_what_another_caller_submitted(tmp_path: Path, backend: FakeBackend) -> None:
    with served(tmp_path, backend, [three_subgraphs()], tokens=TOKENS) as alice:
        key = alice.submit("relu", text=RIGHT)
        assert alice.answer_to(key) is not None
        with pytest.raises(JudgeError, match="Submit it again") as refusal:
            JudgeClient(alice.url, TOKENS["bob"], patience_s=0).answer_to(key)
        assert refusal.value.status == 404


# --- keys that are not kept ------------------------------------------------------------------------------------------


def test_a_key_is_kept_or_refused(judge: JudgeClient) -> None:
    program, session = Program(judge.url), judge.session("relu")
    for path, asked in (
        ("/v1/evaluate/batch", {"items": [{"task": "relu", "text": RIGHT}]}),
        ("/v1/sessions", {"task": "relu"}),
        (f"/v1/sessions/{session.id}/step", {"calls": []}),
        ("/evaluate/batch", {"items": [{"task": "relu", "text": RIGHT}]}),
    ):
        answered = program.ask("POST", path, asked, Idempotency_Key="k")
        assert (answered.status, answered.data["error"]["kind"]) == (422, "KeyNotTaken"), path
        assert program.ask("POST", path, asked).status < 300, path


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", [broken_stream, ended_stream, garbled_stream])
def test_a_stream_that_ends_before_its_answer_is_an_error(broken: Answer) -> None:
    with answering(broken) as (url, _):
        events = JudgeClient(url, patience_s=0).stream("relu", text=RIGHT)
        assert next(events) == ("phase", {"phase": "start"})
        with pytest.raises(JudgeError, match="broke off") as failure:
            next(events)
    assert failure.value.status == 0


def test_a_stream_has_a_key_and_waits_for_room(tmp_path: Path, backend: FakeBackend) -> None:
    go_on = held_up(backend)
    limits = ServiceLimits(most=1)
    with served(tmp_path, backend, [three_subgraphs()], limits=limits) as judge, ThreadPoolExecutor(2) as threads:
        first = judge.stream("relu", text=RIGHT, key="one")
        assert next(first)[0] == "phase"
        with pytest.raises(JudgeError) as refusal:
            next(judge.stream("relu", text=RIGHT + "\n"))
        assert (refusal.value.status, refusal.value.kind) == (429, "ServiceBusy")
        patient = JudgeClient(judge.url, patience_s=seconds(60))
        later = threads.submit(lambda: list(patient.stream("relu", text=RIGHT + "\n")))
        again = threads.submit(judge.evaluate, "relu", text=RIGHT, key="one")
        go_on.set()
        assert list(first)[-1] == ("answer", again.result())
        assert later.result()[-1][1]["reward"] == 1.0
        for task, text, status in (("gone", RIGHT, 404), ("relu", None, 422)):
            with pytest.raises(JudgeError) as refusal:
                next(judge.stream(task, text=text))
            assert refusal.value.status == status
        assert judge.health()["evaluations"] == 0


def test_an_error_in_a_stream_has_its_status(judge: JudgeClient) -> None:
    wrong = {"passes": [{"name": "../a.py", "code": RIGHT}]}
    with pytest.raises(JudgeError, match="file name") as refusal:
        list(judge.stream("relu", bundle=wrong))
    assert (refusal.value.status, refusal.value.kind) == (422, "BadInput")


# --- times without a GPU ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", [Device.CPU, Device.CUDA])
def test_no_times_are_promised_without_a_gpu(tmp_path: Path, device: Device) -> None:
    backend = FakeBackend(as_written, device)
    asked: dict[str, Any] = {
        "task": "relu",
        "text": RIGHT,
        "stage": "measure",
        **({"device": "cpu"} if device is Device.CUDA else {}),
    }
    with served(tmp_path, backend, [three_subgraphs()]) as judge:
        for ask in (
            lambda: judge.evaluate(**asked),
            lambda: judge.submit(**asked),
            lambda: list(judge.stream(**asked)),
            lambda: judge.session(
                "relu", **{name: value for name, value in asked.items() if name in ("stage", "device")}
            ),
        ):
            with pytest.raises(JudgeError, match="No times are taken") as refusal:
                ask()
            assert refusal.value.status == 422
        items = [asked, {"task": "relu", "text": RIGHT}]
        refused, answered = judge.ask("POST", "/evaluate/batch", {"items": items})["answers"]
        assert "No times are taken" in refused["error"]["message"]
        assert answered["answer"]["reward"] == 1.0
        assert {job.spec.stage.value for job in backend.jobs} == {"verify"}


# --- redirects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_goes_to_no_other_host(status: int) -> None:
    asks: Sequence[Callable[[JudgeClient], Any]] = (
        lambda client: client.tasks(),
        lambda client: client.evaluate("relu", text=RIGHT),
        lambda client: next(client.stream("relu", text=RIGHT)),
    )
    with answering(redirect(200, "")) as (other, heard), answering(redirect(status, f"{other}/x")) as (url, _):
        client = JudgeClient(url, "a-token", patience_s=0)
        for ask in asks:
            with pytest.raises(JudgeError, match="Give that address to the client") as refusal:
                ask(client)
            assert refusal.value.status == status
            assert "a-token" not in json.dumps(str(refusal.value))
    assert heard == []
