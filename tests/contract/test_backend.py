"""The local backend with the real judge: each job gets exactly one outcome, whatever the candidate does."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.execution.backends.base import MatchSources, outcome_without_judge
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.backends.referee_process import NICENESS
from passnet_core.execution.scheduler import Scheduler
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device, EvalSpec, Isolation, Job, PassFile, Stage, Verdict, from_json, to_json
from tests.contract.judging import (
    ADD_RELU,
    RIGHT,
    WRONG,
    Listener,
    ample_s,
    bundle,
    hostile_at_import,
    hostile_in_call,
    hostile_job,
    job,
    judged,
    said,
    subgraph,
)
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds, short

PROJECT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.long


def deadline_s(verdict: Verdict) -> float:
    """Soon over where the pass is meant to miss it, in seconds."""
    return short(3) if verdict is Verdict.TIMED_OUT else ample_s()


def test_kernels_are_compiled_while_values_are_compared(backend: LocalBackend) -> None:
    new = RIGHT.replace("total > 0,", "total > 0.0,")
    assert new != RIGHT
    listener = Listener()
    outcome = backend.run(job(new), listener, threading.Event())
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    told = [each.text for each in listener.events]
    assert any(each.startswith("input set") for each in told)
    assert "compiling the kernels for a GPU" not in told, "they were known when it asked"
    broken = backend.run(job(new.replace("BLOCK=256)", "BLOCK=256, num_warps=3)")), Listener(), threading.Event())
    assert broken.verdict is Verdict.COMPILE_FAILED, broken.reason


def test_all_processes_of_a_judge_stand_back_together_behind_the_one_that_serves(backend: LocalBackend) -> None:
    judged(backend, job(RIGHT))
    below = sandbox.descendants(os.getpid())
    referees = [each for each in below if b"referee" in said(each, "cmdline").split(b"\0")]
    own = os.getpriority(os.PRIO_PROCESS, 0)
    nice = own if shutil.which("nvidia-smi") else max(own, NICENESS)
    judges = [each for each in referees if os.getpriority(os.PRIO_PROCESS, each) == nice]
    assert judges
    for judge in judges:
        for each in (judge, *sandbox.descendants(judge)):
            with contextlib.suppress(ProcessLookupError):  # one that has just ended
                assert os.getsid(each) == judge, "sessions have equal shares of the processors"
                assert os.getpriority(os.PRIO_PROCESS, each) >= nice
        autogroup = Path(f"/proc/{judge}/autogroup")
        if nice != own and os.access(autogroup, os.W_OK):
            assert autogroup.read_text().split()[-1] == str(nice)


def test_check_reports_the_match_and_shows_the_rewritten_graph(backend: LocalBackend) -> None:
    listener = Listener()
    outcome = backend.run(job(RIGHT, Stage.CHECK), listener, threading.Event())
    assert outcome.verdict is Verdict.MATCHED, outcome.reason
    assert outcome.match is not None
    assert [len(each.matches) for each in outcome.match.passes] == [1]
    assert "replacement_0(" in (outcome.match.rewritten or "")
    assert outcome.environment is not None
    assert outcome.environment.isolation is backend.info().isolation
    assert outcome.environment == backend.info().environment or backend.info().device is Device.CUDA
    assert listener.stages[:4] == ["start", "rules", "load", "match"]
    assert from_json(type(outcome), to_json(outcome)) == outcome


def test_verify_accepts_a_right_triton_pass(backend: LocalBackend) -> None:
    outcome = judged(backend, job(RIGHT))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert outcome.accuracy is not None
    assert outcome.accuracy.smallest_t == -10
    assert not outcome.speedups


def test_measure_without_a_gpu_judges_only_values(backend: LocalBackend) -> None:
    outcome = judged(backend, job(RIGHT, Stage.MEASURE))
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert any("values only" in warning for warning in outcome.warnings)


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (("equal = in_0.__eq__(0)",), "(tmp_1, equal)"),
        (("_log_api_usage_once = torch._C._log_api_usage_once('torchvision.ops.nms')",), "(tmp_1,)"),
        (("lazy_load_decompositions = torch._functorch.vmap.lazy_load_decompositions()",), "(tmp_1,)"),
    ],
)
def test_verify_accepts_a_right_pass_beside_each_real_operation(
    backend: LocalBackend, lines: tuple[str, ...], result: str
) -> None:
    body = "\n".join(
        f"        {line}" for line in ("tmp_0 = in_0 + in_1", *lines, "tmp_1 = torch.relu(tmp_0)", f"return {result}")
    )
    code = f"import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, in_0, in_1):\n{body}\n"
    asked = replace(
        job(RIGHT.replace("torch.nn.functional.relu(a + b)", "torch.relu(a + b)")), subgraph=subgraph(code=code)
    )
    outcome = judged(backend, asked)
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert outcome.match is not None
    assert [len(each.matches) for each in outcome.match.passes] == [1]


def test_a_subgraph_whose_operation_ends_the_process_is_no_fault_of_the_judge(backend: LocalBackend) -> None:
    # the quotient of the smallest integer by -1 is no int64: x86 raises SIGFPE
    lines = (
        "tmp_2 = torch.zeros(4, dtype=torch.int64) - 2**63",
        "tmp_3 = torch.div(tmp_2, -1, rounding_mode='trunc')",
        "return (tmp_1, tmp_3)",
    )
    code = ADD_RELU.replace("return (tmp_1,)", "\n        ".join(lines))
    outcome = judged(backend, replace(job(RIGHT), subgraph=subgraph(code=code)))
    assert outcome.verdict is Verdict.EAGER_FAILED, outcome.reason
    assert "SIGFPE" in outcome.reason


def test_a_subgraph_with_a_refused_operation_is_not_judged_and_says_why(backend: LocalBackend) -> None:
    reading = "tmp_2 = torch.ops.aten.from_file.default('weights', False, 132)\n        return (tmp_1, tmp_2)"
    asked = replace(job(RIGHT), subgraph=subgraph(code=ADD_RELU.replace("return (tmp_1,)", reading)))
    outcome = judged(backend, asked)
    assert outcome.verdict is Verdict.EAGER_FAILED
    said = "Line 9: 'torch.ops.aten.from_file.default' is not allowed in a subgraph: it reads or writes files."
    assert said in outcome.reason


def test_verify_rejects_a_wrong_triton_pass(backend: LocalBackend) -> None:
    outcome = judged(backend, job(WRONG))
    assert outcome.verdict is Verdict.WRONG_VALUES, outcome.reason
    assert outcome.accuracy is not None
    assert (outcome.accuracy.outputs[0].max_error or 0) > 0.01


def test_a_helper_imported_under_two_names_is_one_module(backend: LocalBackend) -> None:
    head, _, kernel = RIGHT.partition("@triton.jit")
    helper = PassFile(
        "shared_kernel.py", "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit" + kernel
    )
    first = head + "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nfrom shared_kernel import add_relu\n"
    second = head + "from pass_dir.shared_kernel import add_relu\n"
    tail = "\n\ndef replacement_func():\n    return add_relu\n"
    asked = bundle(first + tail, second + tail, helpers=(helper,))
    spec = EvalSpec(stage=Stage.VERIFY, replacement_cap=1, seed=1, deadline_s=ample_s())
    outcome = judged(backend, Job(job(RIGHT).subgraph, asked, spec))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.findings}"
    assert outcome.match is not None
    assert [len(each.matches) for each in outcome.match.passes] == [1, 0]


def test_more_replacements_than_the_cap_allows_are_rejected(backend: LocalBackend) -> None:
    asked = Job(job(RIGHT).subgraph, bundle(RIGHT, WRONG), EvalSpec(stage=Stage.CHECK, replacement_cap=1))
    assert judged(backend, asked).verdict is Verdict.REJECTED


@pytest.mark.parametrize(
    ("statement", "verdict", "word"),
    [
        ("class Own(BaseException): pass\nraise Own('unusual')", Verdict.DOES_NOT_LOAD, "unusual"),
        ("sys.exit(0)", Verdict.DOES_NOT_LOAD, "sys.exit"),
        ("ctypes.string_at(0)", Verdict.CRASHED, "SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", Verdict.CRASHED, "SIGKILL"),
        ("os.closerange(0, 1000)", Verdict.CRASHED, ""),
        ("os.closerange(0, 1000)\ntime.sleep(1000)", Verdict.CRASHED, "closed its channel"),
        ("while True: pass", Verdict.TIMED_OUT, "load"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.fork()\ntime.sleep(1000)", Verdict.TIMED_OUT, "load"),
    ],
    ids=["base-exception", "sys-exit", "segfault", "kill-itself", "close-fds", "close-fds-and-stay",
         "endless-loop", "fork-and-sleep"],
)  # fmt: skip
def test_a_pass_that_fails_at_import_gets_its_verdict(
    backend: LocalBackend, statement: str, verdict: Verdict, word: str
) -> None:
    asked = hostile_job(hostile_at_import(statement), Stage.CHECK, deadline_s=deadline_s(verdict))
    outcome = judged(backend, asked)
    assert outcome.verdict is verdict, f"{outcome.reason} {outcome.evidence}"
    assert word in outcome.reason + " ".join(each.text for each in outcome.evidence)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("ctypes.string_at(0)", Verdict.CRASHED),
        ("raise SystemExit(3)", Verdict.CRASHED),
        ("time.sleep(1000)", Verdict.TIMED_OUT),
    ],
    ids=["segfault", "system-exit", "sleep"],
)
def test_a_pass_that_fails_in_a_call_gets_its_verdict(backend: LocalBackend, statement: str, verdict: Verdict) -> None:
    outcome = judged(backend, hostile_job(hostile_in_call(statement), deadline_s=deadline_s(verdict)))
    assert outcome.verdict is verdict, f"{outcome.reason} {outcome.evidence}"


def test_only_the_end_of_a_gigabyte_of_prints_is_kept(backend: LocalBackend) -> None:
    flood = "for _ in range(1024): sys.stdout.write('x' * (1 << 20) + '\\n')\nprint('the end of it', flush=True)"
    outcome = judged(backend, hostile_job(hostile_at_import(flood), Stage.CHECK))
    assert outcome.verdict is Verdict.MATCHED, outcome.reason
    assert "the end of it" in outcome.log_tail
    assert len(outcome.log_tail) < 10_000


def test_a_pass_that_fills_its_disk_fails_alone(backend: LocalBackend) -> None:
    many = (
        "for number in range(100_000):\n"
        "    with open(os.path.join(os.environ['TMPDIR'], f'fill-{number}'), 'wb') as file:\n"
        "        file.write(bytes(1 << 24))\n"
    )
    outcome = judged(backend, hostile_job(hostile_at_import(many), Stage.CHECK))
    assert outcome.verdict in (Verdict.DOES_NOT_LOAD, Verdict.CRASHED)
    told = outcome.reason + " ".join(each.text for each in outcome.evidence)
    assert "No space left" in told or "to disk" in told
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


def test_the_memory_of_a_pass_is_limited(backend: LocalBackend) -> None:
    outcome = judged(backend, hostile_job(hostile_at_import("kept = bytearray(1 << 36)"), Stage.CHECK))
    assert outcome.verdict in (Verdict.DOES_NOT_LOAD, Verdict.CRASHED)
    assert "emory" in outcome.reason + " ".join(each.text for each in outcome.evidence)


@pytest.mark.sandbox
def test_a_fork_bomb_is_killed_and_the_next_job_runs(backend: LocalBackend) -> None:
    bomb = "while True:\n    try: os.fork()\n    except OSError: pass"
    outcome = judged(backend, hostile_job(hostile_at_import(bomb), Stage.CHECK))
    assert outcome.verdict is Verdict.CRASHED, outcome.reason
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


@pytest.mark.parametrize(
    ("phase", "code", "stage"),
    [
        ("load", hostile_at_import("while True: pass"), Stage.CHECK),
        ("load", hostile_at_import("while True: pass"), Stage.VERIFY),
        # the witness is asked first
        ("verify", hostile_in_call("while True: pass"), Stage.VERIFY),
    ],
)
def test_a_cancelled_job_ends_and_the_next_one_finds_the_judge_warm(
    backend: LocalBackend, phase: str, code: str, stage: Stage
) -> None:
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED
    processes = [each.process for each in backend._all()]
    cancelled, listener = threading.Event(), Listener(awaited=phase)
    asked = hostile_job(code, stage)
    outcomes = []
    worker = threading.Thread(target=lambda: outcomes.append(backend.run(asked, listener, cancelled)))
    worker.start()
    assert listener.reached.wait(seconds(60))
    cancelled.set()
    worker.join(seconds(60))
    assert [each.verdict for each in outcomes] == [Verdict.CANCELLED]
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED
    assert [each.process for each in backend._all()] == processes


def test_a_job_that_is_cancelled_while_it_waits_never_starts(backend: LocalBackend) -> None:
    first, first_cancelled = Listener(awaited="load"), threading.Event()
    endless = hostile_job(hostile_at_import("time.sleep(1000)"), Stage.CHECK)
    scheduler = Scheduler(backend)
    worker = threading.Thread(target=lambda: scheduler.judge(endless, first, first_cancelled))
    worker.start()
    assert first.reached.wait(seconds(60))
    second, second_cancelled = Listener(awaited="queued"), threading.Event()
    outcomes = []
    waiting = threading.Thread(
        target=lambda: outcomes.append(scheduler.judge(job(RIGHT, Stage.CHECK), second, second_cancelled))
    )
    waiting.start()
    assert second.reached.wait(seconds(60))
    second_cancelled.set()
    waiting.join(seconds(60))
    assert [each.verdict for each in outcomes] == [Verdict.CANCELLED]
    assert second.stages == ["queued"]
    first_cancelled.set()
    worker.join(seconds(60))


def test_jobs_from_several_threads_each_get_their_own_outcome(backend: LocalBackend) -> None:
    asked = [job(RIGHT, Stage.CHECK, deadline_s=ample_s() + index) for index in range(4)]
    outcomes: dict[int, str] = {}

    def judge(index: int) -> None:
        outcomes[index] = judged(backend, asked[index]).job_digest

    workers = [threading.Thread(target=judge, args=(index,)) for index in range(len(asked))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds(120))
    assert outcomes == {index: each.digest for index, each in enumerate(asked)}
    assert len(set(outcomes.values())) == len(asked)


def test_a_referee_that_dies_gives_one_infrastructure_outcome(own_backend: LocalBackend) -> None:
    listener = Listener(awaited="load")
    asked = hostile_job(hostile_at_import("time.sleep(1000)"), Stage.CHECK)
    outcomes = []
    worker = threading.Thread(target=lambda: outcomes.append(own_backend.run(asked, listener, threading.Event())))
    worker.start()
    assert listener.reached.wait(seconds(60))
    process = own_backend._referees[False][0].process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    worker.join(seconds(60))
    assert [each.verdict for each in outcomes] == [Verdict.INFRASTRUCTURE]
    assert judged(own_backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


def test_a_silent_referee_is_killed(tmp_path: Path) -> None:
    backend = LocalBackend(sys.executable, "auto", tmp_path, checkers=0, grace_s=1.0)
    try:
        listener = Listener(awaited="load")
        # until it has started, a referee is silent too
        assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED
        asked = hostile_job(hostile_at_import("time.sleep(1000)"), Stage.CHECK, deadline_s=min(20.0, short(5)))
        outcomes = []
        worker = threading.Thread(target=lambda: outcomes.append(backend.run(asked, listener, threading.Event())))
        worker.start()
        assert listener.reached.wait(seconds(60))
        process = backend._referees[False][0].process
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        worker.join(seconds(60))
        assert [each.verdict for each in outcomes] == [Verdict.INFRASTRUCTURE]
        assert "silent" in outcomes[0].reason
        assert process.poll() is not None
    finally:
        backend.close()


def test_closing_the_backend_ends_every_process(tmp_path: Path) -> None:
    backend = LocalBackend(sys.executable, "auto", tmp_path, checkers=0)
    listener = Listener(awaited="load")
    asked = hostile_job(hostile_at_import("time.sleep(1000)"), Stage.CHECK)
    outcomes = []
    worker = threading.Thread(target=lambda: outcomes.append(backend.run(asked, listener, threading.Event())))
    worker.start()
    assert listener.reached.wait(seconds(60))
    process = backend._referees[False][0].process
    assert process is not None
    started = below(process.pid)
    assert started
    backend.close()
    worker.join(seconds(60))
    assert [each.verdict for each in outcomes] == [Verdict.CANCELLED]
    assert process.poll() is not None
    eventually(lambda: not [pid for pid in started if Path(f"/proc/{pid}").exists()])


def test_a_python_without_torch_is_an_infrastructure_error_that_names_torch(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    backend = LocalBackend(python, "process", tmp_path)
    outcome = judged(backend, job(RIGHT, Stage.CHECK))
    assert outcome.verdict is Verdict.INFRASTRUCTURE
    assert "torch" in outcome.reason
    assert "PASSNET_PYTHON" in outcome.reason


@pytest.mark.parametrize("isolation", [pytest.param("sandboxed", marks=pytest.mark.sandbox), "process"])
def test_another_python_gets_this_package_and_none_that_lies_beside_it(tmp_path: Path, isolation: str) -> None:
    """An installed package lies beside the torch of its own Python, which another Python cannot import."""
    packages, python = tmp_path / "site-packages", tmp_path / "python"
    shutil.copytree(PROJECT / "passnet_core", packages / "passnet_core", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "torch.py").write_text("raise SystemExit('the torch of another Python')\n")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    script = f"""
import sys, threading
from pathlib import Path
sys.path.insert(0, {str(packages)!r})
import passnet_core
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, from_json
assert Path(passnet_core.__file__).is_relative_to({str(packages)!r})
backend = LocalBackend({str(python)!r}, {isolation!r}, Path({str(tmp_path / "home")!r}), checkers=0)
outcome = backend.run(from_json(Job, {to_json(job(RIGHT, Stage.CHECK))!r}), lambda event: None, threading.Event())
backend.close()
print(outcome.verdict.value, outcome.reason)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("matches"), done.stdout + done.stderr


def test_a_missing_python_is_an_infrastructure_error(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path / "absent", "process", tmp_path)
    assert judged(backend, job(RIGHT)).verdict is Verdict.INFRASTRUCTURE
    assert "PASSNET_PYTHON" in backend.info().problem


def test_a_job_for_a_gpu_that_is_absent_is_an_infrastructure_error(backend: LocalBackend) -> None:
    if backend.info().device is Device.CUDA:
        pytest.skip("this machine has a CUDA device")
    outcome = judged(backend, job(RIGHT, device=Device.CUDA))
    assert outcome.verdict is Verdict.INFRASTRUCTURE
    assert "CUDA" in outcome.reason


def test_the_judge_works_in_process_isolation(tmp_path: Path) -> None:
    backend = LocalBackend(sys.executable, "process", tmp_path, checkers=0)
    try:
        outcome = judged(backend, job(RIGHT))
        assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence}"
        assert outcome.environment is not None
        assert outcome.environment.isolation is Isolation.PROCESS
        crashed = judged(backend, hostile_job(hostile_at_import("ctypes.string_at(0)"), Stage.CHECK))
        assert crashed.verdict is Verdict.CRASHED
        left = judged(backend, hostile_job(hostile_at_import("os.fork() or time.sleep(1000)"), Stage.CHECK))
        assert left.verdict is Verdict.MATCHED, left.reason
    finally:
        backend.close()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_judges_environment_holds_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "secret" not in str(LocalBackend(sys.executable, "auto", tmp_path).environment())


def test_one_bundle_is_matched_against_many_sources(backend: LocalBackend) -> None:
    other = ADD_RELU.replace("relu(", "sigmoid(")
    twice = ADD_RELU.replace(
        "return (", "tmp_5 = in_0 + tmp_1; tmp_6 = torch.nn.functional.relu(tmp_5); return (tmp_6, "
    )
    sources = (ADD_RELU, other, "what is this", twice, "((((" * 5000)
    surveyed = backend.inspect(MatchSources(job(RIGHT, Stage.CHECK), sources), threading.Event())
    assert surveyed.outcome.verdict is Verdict.MATCHED
    assert surveyed.counts == (1, 0, None, 2, None)
    assert backend.inspect(MatchSources(job(RIGHT, Stage.CHECK), (other,)), threading.Event()).counts == (0,)
    broken = backend.inspect(MatchSources(job("def pattern(", Stage.CHECK), sources), threading.Event())
    assert (broken.outcome.verdict, broken.counts) == (Verdict.REJECTED, ())
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED, "the next job gets its own answer"


def test_the_fake_backend_remembers_its_jobs_and_answers_them() -> None:
    fake = FakeBackend(lambda asked: outcome_without_judge(asked, Verdict.INFRASTRUCTURE, "Only a test."))
    asked, listener = job(RIGHT), Listener()
    outcome = fake.run(asked, listener, threading.Event())
    assert outcome.job_digest == asked.digest
    assert outcome.environment == fake.capacity().devices[0].environment
    assert fake.jobs == [asked]
    assert listener.stages == ["start"]


def below(pid: int) -> list[int]:
    """The descendants of a process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]
