"""Which nodes of a cluster judge, and which judge gets which job. Knows nothing of Ray.

Outcomes of unlike machines must never be ranked together. Hence only nodes with one environment judge: equal GPUs,
drivers and versions."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from passnet_core.execution.backends.base import Capacity, DeviceInfo, spares_each
from passnet_core.records import Device, Isolation

CPUS_PER_JUDGE = 2
"""How many CPUs a judge without a GPU takes: the candidate and the reference compute at the same time."""
CPUS_BESIDE_GPU = 1
"""How many CPUs a judge with a GPU takes."""
CHECKERS_PER_NODE = 1
"""How many checkers each node has, beside its judges. They take none of Ray's resources."""
REST_S = 30.0
"""For how many seconds a judge is left alone that could not be started because others use the node."""
LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class ClusterNode:
    """A node of the cluster. gpus, cpus: as Ray counts them. accelerators: Ray's names of its GPUs. info: None until
    it has described itself."""

    id: str
    host: str
    gpus: int
    cpus: int
    accelerators: tuple[str, ...] = ()
    info: DeviceInfo | None = None

    @property
    def judges(self) -> int:
        """How many judges it has room for."""
        if self.info is not None and self.info.device is Device.CUDA:
            return min(self.gpus, self.cpus // CPUS_BESIDE_GPU)
        return self.cpus // CPUS_PER_JUDGE

    @property
    def may_judge(self) -> bool:
        """Whether it has room for a judge, whatever its device turns out to be."""
        return bool(self.cpus // CPUS_PER_JUDGE or min(self.gpus, self.cpus // CPUS_BESIDE_GPU))

    def has(self, accelerator: str) -> bool:
        """Whether its GPU has this name, as Ray says it ("H100") or as part of the driver's ("NVIDIA H100 80GB HBM3").
        Every node has the empty name."""
        label = self.info.label if self.info is not None else ""
        return accelerator.lower() in label.lower() or accelerator.lower() in map(str.lower, self.accelerators)


def grouped(nodes: Iterable[ClusterNode], accelerator: str = "") -> dict[str, list[ClusterNode]]:
    """The nodes that can judge and have this accelerator, by the digest of their environment. The group with most
    judges comes first."""
    groups: dict[str, list[ClusterNode]] = {}
    for each in nodes:
        info = each.info
        if info is None or info.environment is None or info.problem:
            continue
        if each.judges and each.has(accelerator):
            groups.setdefault(info.environment.digest, []).append(each)
    return dict(sorted(groups.items(), key=lambda group: (-sum(each.judges for each in group[1]), group[0])))


def capacity_of(nodes: Sequence[ClusterNode], group: str, spares: int | None) -> Capacity:
    """What the nodes of one group can do at once. Devices that only other groups have are named after its own.

    spares: of each judge, None: as many as its node has room for. The group must not be empty."""
    groups = grouped(nodes)
    members = groups.pop(group)
    devices = [each[0].info for each in (members, *groups.values())]
    return Capacity(
        tuple(each for each in devices if each is not None),
        judges=sum(each.judges for each in members),
        checkers=CHECKERS_PER_NODE * len(members),
        spares=min(spares_on(each, spares) for each in members),
        may_grow=True,
    )


def spares_on(node: ClusterNode, spares: int | None) -> int:
    """How many warm spares each judge of a node keeps: they share its memory and its cores."""
    room = node.info.spares if node.info is not None else 1
    return spares or spares_each(room, node.judges)


def why_none(nodes: Sequence[ClusterNode], accelerator: str) -> str:
    """Why no node judges, as a sentence. Call it if there is no group."""
    if not nodes:
        return "The cluster has no node that can judge. Start one with a GPU, or with two CPUs."
    told = [each.info.problem for each in nodes if each.info is not None and each.info.problem]
    if told:
        return f"No node of the cluster can judge. {told[0]}"
    if accelerator:
        labels = sorted({each.info.label for each in nodes if each.info is not None})
        return (
            f"No node of the cluster has a GPU of the name {accelerator!r}, as PASSNET_RAY_ACCELERATOR asks; there are"
            f" {', '.join(labels)}."
        )
    return f"None of the {len(nodes)} nodes of the cluster has room for a judge: two CPUs, or a GPU and a CPU."


def without_judge(problem: str) -> Capacity:
    """The capacity of a cluster on which nothing can be judged, and why."""
    return Capacity((DeviceInfo(Device.CPU, "no judge", Isolation.PROCESS, None, problem),), may_grow=True)


@dataclass(eq=False)
class JudgeSlot:
    """Room for one judge on a node. judge: the handle of the one that runs there, if any.

    light: it is a checker. task: what it judged last. idle_since, rests_until: by time.monotonic."""

    node: ClusterNode
    light: bool
    judge: Any = None
    busy: bool = False
    task: str = ""
    idle_since: float = 0.0
    rests_until: float = 0.0


@dataclass
class JudgeSlots:
    """The slots of the judging nodes. Safe to share between threads.

    A job goes to the judge that had its task last, else to another one of that node, so that what was compiled and
    remembered there serves; else to the node with fewest jobs."""

    now: Callable[[], float] = time.monotonic
    changed: threading.Condition = field(default_factory=threading.Condition)
    by_node: dict[str, list[JudgeSlot]] = field(default_factory=dict)
    node_of_task: dict[tuple[str, bool], str] = field(default_factory=dict)
    """The id of the node that judged a task last, for judges and checkers."""

    def set_nodes(self, nodes: Sequence[ClusterNode]) -> list[JudgeSlot]:
        """Have slots on these nodes and no others, and return the slots that are gone."""
        with self.changed:
            there = {each.id: each for each in nodes}
            gone = [slot for name in self.by_node.keys() - there.keys() for slot in self.by_node.pop(name)]
            for name in there.keys() - self.by_node.keys():
                node = there[name]
                judges = [JudgeSlot(node, light=False) for _ in range(node.judges)]
                self.by_node[name] = judges + [JudgeSlot(node, light=True) for _ in range(CHECKERS_PER_NODE)]
            self.changed.notify_all()
            return gone

    def take(
        self, task: str, light: bool, avoid: Collection[str], given_up: Callable[[], bool], within_s: float
    ) -> JudgeSlot | None:
        """Wait for a free slot and take it. avoid: ids of nodes to use only if there are no others. None: it was given
        up. Raises TimeoutError if no node is there for within_s seconds."""
        seen = self.now()
        with self.changed:
            while not given_up():
                if self.by_node:
                    seen = self.now()
                slot = self._best(task, light, avoid)
                if slot is not None:
                    slot.busy, slot.task = True, task
                    self.node_of_task[task, light] = slot.node.id
                    return slot
                if self.now() - seen > within_s:
                    raise TimeoutError(f"No node that can judge was there for {within_s:.0f} s.")
                self.changed.wait(LOOK_EVERY_S)
        return None

    def give(self, slot: JudgeSlot, *, rest: bool = False) -> None:
        """Return a slot. rest: nothing can be started there for now."""
        with self.changed:
            slot.busy, slot.idle_since = False, self.now()
            slot.rests_until = self.now() + REST_S if rest else 0.0
            self.changed.notify_all()

    def idle(self, seconds: float) -> list[JudgeSlot]:
        """Take the slots whose judges have had nothing to do for so long; give them back."""
        with self.changed:
            found = [
                slot
                for slots in self.by_node.values()
                for slot in slots
                if slot.judge is not None and not slot.busy and self.now() - slot.idle_since > seconds
            ]
            for slot in found:
                slot.busy = True
            return found

    def all(self) -> list[JudgeSlot]:
        with self.changed:
            return [slot for slots in self.by_node.values() for slot in slots]

    def _best(self, task: str, light: bool, avoid: Collection[str]) -> JudgeSlot | None:
        allowed: Mapping[str, list[JudgeSlot]] = {
            name: slots for name, slots in self.by_node.items() if name not in avoid
        } or self.by_node
        free = [
            slot
            for slots in allowed.values()
            for slot in slots
            if slot.light is light and not slot.busy and slot.rests_until <= self.now()
        ]
        usual = self.node_of_task.get((task, light))

        def rank(slot: JudgeSlot) -> tuple[bool, bool, int, bool, str]:
            jobs = sum(each.busy for each in self.by_node[slot.node.id])
            # a judge that runs already is warm
            return slot.node.id != usual, slot.task != task, jobs, slot.judge is None, slot.node.id

        return min(free, key=rank, default=None)
