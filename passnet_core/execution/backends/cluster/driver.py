"""The driver: the one process that is connected to the Ray cluster. The backend starts it, and starts it again.

Ray ends a driver whose node or head is gone. So it is a process of its own: the page survives it. Its channel carries
one JSON object per line. {"ask": number, …} is answered by {"told": number, …} lines: events, then an answer or a
problem, or "lost" with the reason, after which the backend asks again. {"cancel": number} ends it soon. {"capacity": …}
comes once the cluster is known, and when it has changed; {"failed": …} says why there is no cluster."""

import argparse
import contextlib
import json
import os
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from passnet_core.errors import PlaygroundError
from passnet_core.execution.backends.base import Capacity, DeviceInfo
from passnet_core.execution.backends.cluster import placing
from passnet_core.execution.backends.cluster.node import NodeJudge, described
from passnet_core.execution.backends.cluster.placing import ClusterNode, JudgeSlot, JudgeSlots
from passnet_core.records import Device, from_json, to_json

PACKAGE = Path(__file__).resolve().parents[3]

LOOK_EVERY_S = 1.0
SIGN_OF_LIFE_S = 5.0
REACHED_WITHIN_S = 5.0
DESCRIBED_WITHIN_S = 60.0
"""How many seconds a node may take to describe itself, its runtime environment included, before it is left out."""
SETTLED_AFTER_S = 10.0
"""How many seconds are waited for slower nodes, once one has described itself."""
STARTED_WITHIN_S = 60.0
"""How many seconds a judge may take to start on a node. Longer: others use its GPU or its CPUs."""
NODES_WITHIN_S = 300.0
"""How many seconds a job waits while there is no node that can judge it."""
GONE_AFTER_S = 30.0
"""After how many seconds of silence the head counts as gone."""
KEPT_IDLE_S = 120.0
"""How many seconds a judge without jobs keeps its GPU or its CPUs."""
LEAVE_WITHIN_S = 5.0


class BackendChannel:
    """The lines to and from the backend. Safe to share between threads."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.set_inheritable(False)
        self._lines = self._socket.makefile("r", encoding="utf-8", newline="\n")
        self._lock = threading.Lock()

    def tell(self, **fields: Any) -> None:
        """Send one line. Nobody may be there any more; then it is lost."""
        data = json.dumps(fields, allow_nan=False).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            self._socket.sendall(data)

    def heard(self) -> Any:
        """Yield what the backend sends, until it closes the channel."""
        with contextlib.suppress(OSError):
            for line in self._lines:
                yield json.loads(line)


class ClusterDriver:
    """Has nodes judge. isolation, spares: of the judges. accelerator: the name of the GPUs that may judge, or empty.
    environment: the digest of the environment that judged before, to which to keep; None: the first choice is free."""

    def __init__(
        self, channel: BackendChannel, *, isolation: str, spares: int | None, accelerator: str, environment: str | None
    ) -> None:
        self.channel = channel
        self.isolation, self.spares, self.accelerator = isolation, spares, accelerator
        self.group = environment
        self.slots = JudgeSlots()
        self.asked: dict[int, ClusterRequest] = {}
        self.told: Capacity | None = None
        self.nodes: dict[str, ClusterNode] = {}
        self.describing: dict[str, tuple[Any, float]] = {}
        """By node id, the description to come and until when it is waited for."""
        self.begun = time.monotonic()
        self.first_described: float | None = None
        self.here = ray.get_runtime_context().get_node_id()
        self.describe = ray.remote(num_cpus=0, max_retries=0)(described)

    # --- the nodes ---

    def watch(self) -> None:
        """Follow the nodes of the cluster until the head is gone, which ends this."""
        alive: list[dict[str, Any]] = []
        seen = time.monotonic()
        last_sign = 0.0
        answered = threading.Event()

        def look() -> None:
            nonlocal alive, seen
            while True:
                with contextlib.suppress(Exception):  # whatever Ray raises without a head: silence is noticed below
                    found = [each for each in ray.nodes() if each["Alive"]]
                    if any(each["NodeID"] == self.here for each in found):
                        alive, seen = found, time.monotonic()
                        answered.set()
                time.sleep(LOOK_EVERY_S)

        threading.Thread(target=look, name="passnet-nodes", daemon=True).start()
        while time.monotonic() - seen < GONE_AFTER_S:
            if answered.is_set():
                self._follow(alive)
            for slot in self.slots.idle(KEPT_IDLE_S):
                self.end_judge(slot)
                self.slots.give(slot)
            if time.monotonic() - last_sign > SIGN_OF_LIFE_S:
                last_sign = time.monotonic()
                self.channel.tell(alive=True)
            time.sleep(LOOK_EVERY_S)

    def _follow(self, alive: Sequence[dict[str, Any]]) -> None:
        """Notice nodes that came and went, describe the new ones, and tell the capacity if it has changed."""
        there = {each["NodeID"]: each for each in alive}
        for gone in self.nodes.keys() - there.keys():
            del self.nodes[gone]
            self.describing.pop(gone, None)
        for name in there.keys() - self.nodes.keys():
            node = self.nodes[name] = node_of(there[name])
            if node.may_judge:
                where = NodeAffinitySchedulingStrategy(name, soft=False)
                coming = self.describe.options(scheduling_strategy=where).remote(self.isolation)
                self.describing[name] = coming, time.monotonic() + DESCRIBED_WITHIN_S
        for name, (coming, until) in list(self.describing.items()):
            if ray.wait([coming], timeout=0)[0]:
                del self.describing[name]
                try:
                    info = from_json(DeviceInfo, ray.get(coming))
                except (RayError, PlaygroundError, KeyError, ValueError) as error:
                    info = placing.without_judge(reason_of(error)).devices[0]
                self.nodes[name] = replace(self.nodes[name], info=info)
                self.first_described = self.first_described or time.monotonic()
            elif time.monotonic() > until:
                del self.describing[name]
        self._settle()

    def _settle(self) -> None:
        """Choose the group of nodes that judge, once, and have slots on all of its nodes."""
        now = time.monotonic()
        nodes = [each for each in self.nodes.values() if each.may_judge]
        groups = placing.grouped(nodes, self.accelerator)
        waiting = self.describing and (self.first_described is None or now - self.first_described < SETTLED_AFTER_S)
        if self.group is None and groups and not waiting:
            self.group = next(iter(groups))
        if self.group in groups:
            members = groups[self.group]
            for slot in self.slots.set_nodes(members):
                self.end_judge(slot)
            capacity = placing.capacity_of(nodes, self.group, self.spares)
        elif self.group is None:
            if waiting:
                return
            capacity = placing.without_judge(placing.why_none(nodes, self.accelerator))
        else:
            # its nodes may come back: jobs wait for them, and nobody else judges meanwhile
            for slot in self.slots.set_nodes(()):
                self.end_judge(slot)
            return
        if capacity != self.told:
            self.told = capacity
            self.channel.tell(capacity=to_json(capacity))

    # --- the jobs ---

    def serve(self) -> None:
        """Do what the backend asks until it leaves."""
        for line in self.channel.heard():
            if "cancel" in line:
                if (asked := self.asked.get(line["cancel"])) is not None:
                    asked.cancel()
            else:
                asked = self.asked[line["ask"]] = ClusterRequest(self, line)
                threading.Thread(target=asked.run, name="passnet-asked", daemon=True).start()

    def judge_on(self, slot: JudgeSlot) -> Any:
        """The judge of a slot, which is started if need be. Raises RayError, TimeoutError if it does not start."""
        if slot.judge is None:
            on_gpu = slot.node.info is not None and slot.node.info.device is Device.CUDA
            cpus = placing.CPUS_BESIDE_GPU if on_gpu else placing.CPUS_PER_JUDGE
            made = ray.remote(NodeJudge).options(
                num_gpus=1 if on_gpu and not slot.light else 0,
                num_cpus=0 if slot.light else cpus,
                max_restarts=0,
                max_task_retries=0,
                max_concurrency=4,
                scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node.id, soft=False),
            )
            slot.judge = made.remote(
                self.isolation, placing.spares_on(slot.node, self.spares), None if on_gpu else placing.CPUS_PER_JUDGE
            )
            info = from_json(DeviceInfo, ray.get(slot.judge.described.remote(), timeout=STARTED_WITHIN_S))
            if info.environment is None or info.environment.digest != self.group:
                raise TimeoutError(info.problem or "The environment of the node has changed.")
        return slot.judge

    def end_judge(self, slot: JudgeSlot) -> None:
        """End the judge of a slot, if there is one, without waiting for it."""
        judge, slot.judge = slot.judge, None
        if judge is not None:
            with contextlib.suppress(RayError, ValueError):
                ray.kill(judge)

    def close(self) -> None:
        """End all judges with their processes, and wait for them a little."""
        judges = [slot.judge for slot in self.slots.all() if slot.judge is not None]
        with contextlib.suppress(RayError):
            closing = [each.close.remote() for each in judges]
            if closing:
                ray.wait(closing, num_returns=len(closing), timeout=LEAVE_WITHIN_S)
        with contextlib.suppress(RayError, ValueError):
            for each in judges:
                ray.kill(each)


class ClusterRequest:
    """A job or a question of the backend's, which one judge of the cluster gets."""

    def __init__(self, driver: ClusterDriver, line: dict[str, Any]) -> None:
        self.driver = driver
        self.number: int = line["ask"]
        self.light, self.task, self.avoid = bool(line["light"]), str(line["task"]), tuple(line["avoid"])
        self.words = {"kind": line["kind"], "asked": line["asked"]}
        self.cancelled = threading.Event()
        self.judge: Any = None

    def run(self) -> None:
        """Have it judged, and tell the end."""
        try:
            while not self._tried():
                continue
        except TimeoutError as error:
            self._tell(problem=str(error), bad_input=False)
        finally:
            self.driver.asked.pop(self.number, None)

    def cancel(self) -> None:
        self.cancelled.set()
        judge = self.judge
        if judge is not None:
            with contextlib.suppress(RayError):
                judge.cancel.remote(self.number)

    def _tell(self, **fields: Any) -> None:
        self.driver.channel.tell(told=self.number, **fields)

    def _tried(self) -> bool:
        """Have a judge answer, and return whether it was told how that ended; False: another slot is to be tried.

        Raises TimeoutError if there is no node."""
        slot = self.driver.slots.take(self.task, self.light, self.avoid, self.cancelled.is_set, NODES_WITHIN_S)
        if slot is None:
            self._tell(cancelled=True)
            return True
        rest = False
        try:
            try:
                judge = self.driver.judge_on(slot)
            except TimeoutError:  # Ray's GetTimeoutError is one
                rest = True
                return False
            self.judge = judge
            if self.cancelled.is_set():
                self._tell(cancelled=True)
                return True
            for coming in judge.answer.options(num_returns="streaming").remote(self.number, self.words):
                self._tell(node=slot.node.id, **ray.get(coming))
            return True
        except Exception as error:  # whatever Ray raises when a node goes: the job must not wait for an answer forever
            rest = True
            self._tell(lost=f"The node {slot.node.host} failed: {reason_of(error)}", node=slot.node.id)
            return True
        finally:
            self.judge = None
            if rest:
                self.driver.end_judge(slot)
            self.driver.slots.give(slot, rest=rest)


def node_of(told: dict[str, Any]) -> ClusterNode:
    """A node as Ray tells of it."""
    resources = told["Resources"]
    names = tuple(name.partition(":")[2] for name in resources if name.startswith("accelerator_type:"))
    return ClusterNode(
        told["NodeID"],
        told["NodeManagerHostname"] or told["NodeManagerAddress"],
        gpus=int(resources.get("GPU", 0)),
        cpus=int(resources.get("CPU", 0)),
        accelerators=names,
    )


def reason_of(error: Exception) -> str:
    """What went wrong, in a line: of what a node raised, the last line; of Ray's own explanations, the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if isinstance(error, RayTaskError) else 0][:300]


def answers(address: str) -> bool:
    """Whether somebody listens at HOST:PORT; true of Ray's own words, such as "auto". Ray would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return True
    with contextlib.suppress(OSError):
        socket.create_connection((host.strip("[]"), int(port)), REACHED_WITHIN_S).close()
        return True
    return False


def connect() -> None:
    """Connect to the cluster that Ray's variables name, or to the one that runs here, or start one here.

    Raises ConnectionError with a sentence that says what to do."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise ConnectionError(
            f"RAY_ADDRESS is {address!r}. Name the head itself, HOST:6379, from a machine that has joined the cluster."
        )
    if address and not answers(address):
        raise ConnectionError(
            f"No Ray cluster answers at {address}, which RAY_ADDRESS names. Start it, or correct RAY_ADDRESS."
        )
    if not address:
        # the file may name a cluster that is gone, and Ray would wait for it
        noted = Path(os.environ.get("RAY_TMPDIR") or "/tmp", "ray", "ray_current_cluster")
        running = noted.read_text().strip() if noted.is_file() else ""
        address = running if running and answers(running) else "local"
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            include_dashboard=False if address == "local" else None,
            # uploaded through Ray: no node needs a shared disk, and all judge by this code
            runtime_env={
                "py_modules": [str(PACKAGE)],
                "excludes": ["_app", "__pycache__"],
                # a checker has no GPU of its own, and looks at the one of its node, as on any machine
                "env_vars": {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            },
        )
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise ConnectionError(
            f"Ray cannot be used: {reason_of(error)} This machine must have joined the cluster: ray start"
            " --address=HEAD:6379 --num-cpus=0."
        ) from error


def main(arguments: Sequence[str]) -> None:
    """Serve the backend at the other end of a channel until it leaves or the cluster is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--isolation", required=True)
    parser.add_argument("--accelerator", default="")
    parser.add_argument("--spares", type=int)
    parser.add_argument("--environment")
    given = parser.parse_args(arguments)
    channel = BackendChannel(given.channel)
    with tempfile.TemporaryDirectory(prefix="passnet-driver-") as empty:
        # Ray has workers on this machine import from the driver's folder before what was uploaded
        os.chdir(empty)
        try:
            connect()
        except ConnectionError as error:
            channel.tell(failed=str(error))
            return
        driver = ClusterDriver(
            channel,
            isolation=given.isolation,
            spares=given.spares,
            accelerator=given.accelerator,
            environment=given.environment,
        )
        served = threading.Event()

        def watch() -> None:
            try:
                driver.watch()
                channel.tell(failed=f"The head of the Ray cluster was silent for {GONE_AFTER_S:.0f} s.")
            except BaseException:  # a bug, or Ray without a cluster: the backend starts another driver
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(1)

        def serve() -> None:
            driver.serve()
            served.set()

        threading.Thread(target=watch, name="passnet-cluster", daemon=True).start()
        threading.Thread(target=serve, name="passnet-asking", daemon=True).start()
        served.wait()
        driver.close()
        ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
