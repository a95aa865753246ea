"""Which nodes of a cluster judge, and which judge gets which job."""

import pytest

from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.execution.backends.cluster.placing import (
    CHECKERS_PER_NODE,
    ClusterNode,
    JudgeSlot,
    JudgeSlots,
    capacity_of,
    grouped,
    why_none,
    without_judge,
)
from passnet_core.records import Device, Environment, Isolation


def device(name: str, driver: str = "580.1", problem: str = "") -> DeviceInfo:
    environment = Environment(name, driver, "3.11", "2.13", "3.7", Isolation.SANDBOXED, "judge")
    known = None if problem else environment
    return DeviceInfo(Device.CUDA, name, Isolation.SANDBOXED, known, problem, spares=8)


def node(name: str, info: DeviceInfo | None, gpus: int = 1, accelerators: tuple[str, ...] = ()) -> ClusterNode:
    return ClusterNode(name, f"host-{name}", gpus, 16, accelerators, info)


H100, A100 = device("NVIDIA H100 80GB HBM3"), device("NVIDIA A100-SXM4-40GB")


def test_nodes_with_unlike_gpus_or_drivers_never_judge_together() -> None:
    other_driver = device("NVIDIA H100 80GB HBM3", driver="570.0")
    nodes = [node("a", A100), node("b", H100, gpus=4), node("c", other_driver), node("d", H100), node("e", None)]
    groups = grouped(nodes)
    assert next([each.id for each in group] for group in groups.values()) == ["b", "d"]
    assert len(groups) == 3
    capacity = capacity_of(nodes, next(iter(groups)), None)
    assert (capacity.judges, capacity.checkers, capacity.may_grow) == (5, 2 * CHECKERS_PER_NODE, True)
    assert capacity.devices[0] == H100
    assert A100 in capacity.devices[1:]
    assert capacity.spares == 2, "the judges of the fullest node share its room"


def test_the_named_accelerator_judges_even_if_there_are_more_of_others() -> None:
    nodes = [node("a", A100, accelerators=("A100",)), node("b", H100, gpus=8, accelerators=("H100",))]
    for name in ("a100", "A100", "SXM4"):
        (group,) = grouped(nodes, name).values()
        assert [each.id for each in group] == ["a"]
    assert not grouped(nodes, "B200")
    assert "'B200'" in why_none(nodes, "B200")
    assert "H100" in why_none(nodes, "B200")


def test_a_sentence_says_why_nobody_judges() -> None:
    assert "no node" in why_none([], "")
    assert "no torch" in why_none([node("a", device("x", problem="The judge's Python has no torch."))], "")
    assert "room" in why_none([ClusterNode("a", "a", 0, 1, (), H100)], "")
    assert without_judge("Why.").devices[0].problem == "Why."


def test_a_node_counts_gpus_or_pairs_of_cpus() -> None:
    cpu = DeviceInfo(Device.CPU, "CPU: x", Isolation.SANDBOXED)
    assert ClusterNode("a", "a", 0, 7, (), cpu).judges == 3
    assert ClusterNode("a", "a", 4, 2, (), H100).judges == 2
    assert not ClusterNode("a", "a", 0, 0).may_judge
    assert ClusterNode("a", "a", 1, 1).may_judge


def taken(slots: JudgeSlots, task: str, avoid: tuple[str, ...] = ()) -> JudgeSlot:
    slot = slots.take(task, False, avoid, lambda: False, 1.0)
    assert slot is not None
    return slot


def test_a_task_returns_to_its_judge_then_to_its_node_then_to_the_least_busy_one() -> None:
    slots = JudgeSlots()
    slots.set_nodes([node("a", H100, gpus=2), node("b", H100, gpus=2)])
    first = taken(slots, "one")
    other = taken(slots, "two")
    assert other.node.id != first.node.id
    slots.give(first)
    assert taken(slots, "one") is first
    beside = taken(slots, "one")
    assert beside.node.id == first.node.id
    assert beside is not first
    assert taken(slots, "one").node.id == other.node.id, "its own node is full"


def test_a_lost_job_goes_to_another_node_and_none_goes_to_nodes_that_left() -> None:
    slots = JudgeSlots()
    slots.set_nodes([node("a", H100), node("b", H100)])
    slot = taken(slots, "one")
    slots.give(slot, rest=True)
    elsewhere = taken(slots, "one", avoid=(slot.node.id,))
    assert elsewhere.node.id != slot.node.id
    slots.give(elsewhere)
    gone = slots.set_nodes([slot.node])
    assert {each.node.id for each in gone} == {elsewhere.node.id}
    assert taken_after_rest(slots).node.id == slot.node.id, "the only node left is not avoided"


def taken_after_rest(slots: JudgeSlots) -> JudgeSlot:
    for each in slots.all():
        each.rests_until = 0.0
    return taken(slots, "one", avoid=tuple(slots.by_node))


def test_without_a_node_a_job_waits_for_some_time_only() -> None:
    slots = JudgeSlots()
    with pytest.raises(TimeoutError):
        slots.take("one", False, (), lambda: False, 0.05)
    assert slots.take("one", False, (), lambda: True, 60.0) is None


def test_judges_that_are_idle_for_long_are_found_once() -> None:
    now = [0.0]
    slots = JudgeSlots(now=lambda: now[0])
    slots.set_nodes([node("a", H100)])
    slot = taken(slots, "one")
    slot.judge = "a handle"
    now[0] = 100.0
    assert not slots.idle(60.0), "it is busy"
    slots.give(slot)
    now[0] = 200.0
    assert slots.idle(60.0) == [slot]
    assert not slots.idle(60.0)
