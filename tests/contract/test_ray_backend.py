"""The backend on a Ray cluster with real judges: one outcome for each job, whatever is lost on the way."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends import choosing
from passnet_core.execution.backends.base import InspectSubgraph, MatchSources
from passnet_core.execution.backends.cluster.backend import RayBackend
from passnet_core.records import Bundle, Device, EvalSpec, Family, Job, Outcome, Stage, Task, Verdict
from passnet_core.service import open_service
from passnet_core.settings import read_settings
from tests.contract.judging import (
    ADD_RELU,
    RIGHT,
    WRONG,
    Listener,
    ample_s,
    bundle,
    hostile_at_import,
    hostile_job,
    job,
    judged,
    subgraph,
)
from tests.contract.ray_cluster import RayCluster, running_cluster
from tests.waiting import eventually, seconds

pytestmark = pytest.mark.slow

SLOW_AT_IMPORT = hostile_at_import("time.sleep(3)")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with running_cluster(nodes=2) as made:
        yield made


@pytest.fixture(scope="module")
def ray_backend(cluster: RayCluster) -> Iterator[RayBackend]:
    made = RayBackend("auto", environ=cluster.environ)
    try:
        yield made
    finally:
        made.close()
        # every process that it had started on the nodes is gone
        eventually(lambda: not cluster.processes("passnet_core.judge"))
        eventually(lambda: not cluster.processes("cluster.driver"))


def test_the_nodes_judge_by_the_uploaded_code(ray_backend: RayBackend, cluster: RayCluster) -> None:
    capacity = ray_backend.capacity()
    assert not capacity.devices[0].problem
    assert (capacity.judges, capacity.checkers) == (2, 2)
    listener = Listener()
    outcome = ray_backend.run(job(RIGHT, Stage.CHECK), listener, threading.Event())
    assert outcome.verdict is Verdict.MATCHED, outcome.reason
    assert outcome.environment == capacity.devices[0].environment
    assert listener.stages == ["start", "rules", "load", "match"]
    (referee,) = cluster.processes("passnet_core.judge referee")
    variables = Path("/proc", str(referee), "environ").read_bytes().split(b"\0")
    (imported,) = [each for each in variables if each.startswith(b"PYTHONPATH=")]
    assert b"_ray_pkg_" in imported.partition(b":")[0], "what Ray has sent, and not a shared disk"
    assert judged(ray_backend, job(WRONG)).verdict is Verdict.WRONG_VALUES


def test_questions_are_answered_on_the_nodes(ray_backend: RayBackend) -> None:
    surveyed = ray_backend.inspect(MatchSources(job(RIGHT, Stage.CHECK), (ADD_RELU, "what")), threading.Event())
    assert (surveyed.outcome.verdict, surveyed.counts) == (Verdict.MATCHED, (1, None))
    asked = subgraph(code="import os")
    with pytest.raises(BadInput):
        ray_backend.inspect(InspectSubgraph(asked, Device.CPU), threading.Event())


def test_what_ends_the_candidate_is_its_outcome_and_no_gpu_is_said(ray_backend: RayBackend) -> None:
    crashed = judged(ray_backend, hostile_job(hostile_at_import("ctypes.string_at(0)"), Stage.CHECK))
    assert crashed.verdict is Verdict.CRASHED
    outcome = judged(ray_backend, job(RIGHT, device=Device.CUDA))
    if ray_backend.capacity().devices[0].device is Device.CPU:
        assert outcome.verdict is Verdict.INFRASTRUCTURE
        assert "CUDA" in outcome.reason


def test_a_cancelled_job_ends_soon_and_the_next_one_runs(ray_backend: RayBackend) -> None:
    cancelled, listener = threading.Event(), Listener(awaited="load")
    asked = hostile_job(hostile_at_import("time.sleep(1000)"), Stage.CHECK)
    ending = begun(ray_backend, asked, listener, cancelled)
    cancelled.set()
    assert ending().verdict is Verdict.CANCELLED
    assert judged(ray_backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


def test_a_job_whose_driver_is_killed_is_judged(ray_backend: RayBackend, cluster: RayCluster) -> None:
    judged_though_killed(ray_backend, cluster, "cluster.driver")


@pytest.mark.parametrize("victim", ["passnet_core.judge referee", "ray::NodeJudge"], ids=["referee", "worker"])
def test_a_job_whose_judge_is_killed_is_judged_elsewhere(
    ray_backend: RayBackend, cluster: RayCluster, victim: str
) -> None:
    judged_though_killed(ray_backend, cluster, victim)


def judged_though_killed(backend: RayBackend, cluster: RayCluster, victim: str) -> None:
    """Kill these processes of the cluster during a job: it has its one outcome nevertheless."""
    ending = begun(backend, hostile_job(SLOW_AT_IMPORT, Stage.CHECK), Listener(awaited="load"), threading.Event())
    killed = processes(cluster, victim)
    assert killed
    for each in killed:
        os.kill(each, signal.SIGKILL)
    outcome = ending()
    assert outcome.verdict is Verdict.MATCHED, outcome.reason


def processes(cluster: RayCluster, word: str) -> list[int]:
    """Ray's workers have no variables of the cluster in their names: all of this machine that belong to its raylets."""
    if not word.startswith("ray::"):
        return cluster.processes(word)
    raylets = set(cluster.processes("raylet/raylet"))
    asked = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    lines = (line.split(None, 2) for line in asked.stdout.splitlines())
    return [int(pid) for pid, parent, args in lines if args.startswith(word) and int(parent) in raylets]


def test_a_cluster_that_is_not_there_is_said_soon() -> None:
    made = RayBackend("auto", environ={**os.environ, "RAY_ADDRESS": "127.0.0.1:1"})
    with ThreadPoolExecutor() as threads:
        try:
            outcome = threads.submit(judged, made, job(RIGHT, Stage.CHECK)).result(seconds(60))
            assert outcome.verdict is Verdict.INFRASTRUCTURE
            assert "127.0.0.1:1" in outcome.reason
            assert "RAY_ADDRESS" in threads.submit(made.capacity).result(seconds(60)).devices[0].problem
            question = InspectSubgraph(subgraph(), Device.CPU)
            inspecting = threads.submit(made.inspect, question, threading.Event())
            with pytest.raises(InfrastructureError, match="RAY_ADDRESS"):
                inspecting.result(seconds(60))
        finally:
            made.close()
    assert judged(made, job(RIGHT)).verdict is Verdict.CANCELLED


def test_the_settings_choose_the_backend_and_name_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"PASSNET_HOME": str(tmp_path), "PASSNET_BACKEND": "ray", "PASSNET_RAY_ACCELERATOR": "H100"}
    settings = read_settings(given)
    made = choosing.chosen_backend(settings)
    assert isinstance(made, RayBackend)
    assert made.accelerator == "H100"
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InfrastructureError, match=r"passnet-playground\[ray\]"):
        choosing.chosen_backend(settings)
    with pytest.raises(BadInput, match="PASSNET_BACKEND"):
        read_settings(given | {"PASSNET_BACKEND": "slurm"})


def test_the_driver_gets_no_keys() -> None:
    keys = {"OPENAI_API_KEY": "secret", "PASSNET_JUDGE_TOKENS": "a=secret"}
    told = RayBackend("auto", environ={**keys, "RAY_ADDRESS": "here:1"}).environment()
    assert "secret" not in str(told)
    assert told["RAY_ADDRESS"] == "here:1"


@pytest.mark.timeout(10_000)
def test_three_hundred_jobs_survive_the_loss_of_a_node_and_of_the_head(tmp_path: Path) -> None:
    settings = read_settings({"PASSNET_HOME": str(tmp_path / "home"), "PASSNET_BACKEND": "ray"})
    with running_cluster(nodes=3) as cluster:
        made = RayBackend("auto", environ=cluster.environ)
        service = open_service(settings, backend=made)
        try:
            assert made.capacity().judges == 3
            lock, order = threading.Lock(), list[Verdict]()
            reached = {count: threading.Event() for count in (60, 150)}

            def count(position: int, outcome: Outcome) -> None:
                with lock:
                    order.append(outcome.verdict)
                    if len(order) in reached:
                        reached[len(order)].set()

            runs = [service.submit(each, passes, spec) for each, passes, spec in three_hundred_jobs()]
            ends: dict[str, tuple[Outcome, ...]] = {}
            waiting = [
                threading.Thread(target=lambda run=run: ends.__setitem__(run, service.wait(run, count))) for run in runs
            ]
            for each in waiting:
                each.start()
            assert reached[60].wait(seconds(300))
            cluster.kill_node(cluster.nodes[0])
            assert reached[150].wait(seconds(300))
            cluster.stop()
            cluster.start(nodes=3)
            for each in waiting:
                each.join(seconds(500))
            assert len(ends) == len(runs)
            for run in runs:
                stored = service.outcomes(run)
                assert stored == ends[run]
                assert [each.job_digest for each in stored] == list(service.run(run).job_digests)
            counted = [outcome for run in runs for outcome in ends[run]]
            assert len(counted) == 300
            assert len({each.job_digest for each in counted}) == 300
            unexpected = {each.reason for each in counted if each.verdict not in (Verdict.MATCHED, Verdict.VALUES_ONLY)}
            assert not unexpected
            assert len({each.environment for each in counted}) == 1
        finally:
            service.close()
        assert not cluster.processes("cluster.driver")
        eventually(lambda: not cluster.processes("passnet_core.judge"))


def three_hundred_jobs() -> Iterator[tuple[Task, Bundle, EvalSpec]]:
    """Six tasks of fifty subgraphs each; one of them is verified, the others are checked."""
    for number in range(6):
        name = f"task-{number}"
        shapes = [(3 + number, 5 + index) for index in range(50)]
        parts = tuple(
            replace(subgraph(shape), id=f"float32/{index}/{name}", task_id=name) for index, shape in enumerate(shapes)
        )
        stage = Stage.CHECK if number else Stage.VERIFY
        spec = EvalSpec(stage=stage, device=Device.CPU, deadline_s=ample_s(), seed=1)
        yield Task(name, Family.FUSIBLE, "train", parts), bundle(RIGHT), spec


def begun(backend: RayBackend, asked: Job, listener: Listener, cancelled: threading.Event) -> Callable[[], Outcome]:
    """Begin a job, wait until it is in the phase that the listener awaits, and return what waits for its outcome."""
    outcomes: list[Outcome] = []
    worker = threading.Thread(target=lambda: outcomes.append(backend.run(asked, listener, cancelled)))
    worker.start()
    assert listener.reached.wait(seconds(60))

    def ending() -> Outcome:
        worker.join(seconds(60))
        (outcome,) = outcomes
        return outcome

    return ending
