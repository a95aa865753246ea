"""How tasks stand, and the order of tasks by what there is to gain."""

import pytest

from passnet_core.leaderboard.gains import TaskStanding, lead_of, order_by_gain, standing_by_task
from passnet_core.store.rows import Standing


def standing(
    subgraph_id: str, eager_us: float | None, inductor: float | None, best: float | None, by: str = "rules"
) -> Standing:
    """The results on one subgraph of the task. None: not timed."""
    return Standing(
        "task",
        subgraph_id,
        attempts=2,
        right=1 if best else 0,
        eager_us=eager_us,
        inductor_speedup=inductor,
        inductor_run_id="of inductor" if inductor else None,
        best_speedup=best,
        best_run_id="of passes" if best else None,
        best_by=by if best else "",
    )


def test_the_figures_of_a_task_are_means_over_the_same_subgraphs() -> None:
    found = standing_by_task(
        [
            standing("a", 10.0, 0.5, 2.0),
            standing("b", 40.0, 2.0, 1.5),
            standing("not beside TorchInductor", 90.0, None, 9.0),
            standing("never timed", None, None, None),
            Standing("other", "a", 1, 1),
        ]
    )
    task = found["task"]
    assert (task.attempts, task.right) == (8, 3)
    assert task.eager_us == pytest.approx(20.0)
    assert task.inductor == pytest.approx(1.0)
    assert task.best == pytest.approx(2.0), "TorchInductor is the best on one of the two"
    assert task.best_by == "rules, TorchInductor"
    assert [each.subgraph_id for each in task.measured] == ["a", "b"]
    assert found["other"] == TaskStanding(1, 1)


def test_without_torchinductor_the_passes_tell() -> None:
    task = standing_by_task([standing("a", 10.0, None, 3.0, by="")])["task"]
    assert (task.eager_us, task.best) == pytest.approx((10.0, 3.0))
    assert (task.inductor, task.best_by) == (None, "unnamed passes")
    assert (task.inductor_slower, task.lost_us) == (False, 0.0)


@pytest.mark.parametrize(
    ("inductor", "passes", "run_id"),
    [(1.2, 1.1, "of inductor"), (1.2, 1.2, "of passes"), (None, 0.4, "of passes"), (0.7, None, "of inductor")],
)
def test_the_run_of_the_fastest_leads(inductor: float | None, passes: float | None, run_id: str) -> None:
    lead = lead_of(standing("a", 10.0, inductor, passes))
    assert lead is not None
    assert lead.run_id == run_id


def test_tasks_with_most_to_gain_come_first() -> None:
    stood = {
        "never tried": (TaskStanding(), 1),
        "tried in more models": (TaskStanding(attempts=1), 5),
        "solved well": (TaskStanding(1, 1, 10.0, 0.5, 3.0), 1),
        "solved a little": (TaskStanding(1, 1, 10.0, 1.1, 1.2), 1),
        "loses 10 µs": (TaskStanding(1, 1, 10.0, 0.5, 0.9), 1),
        "loses 100 µs": (TaskStanding(0, 0, 900.0, 0.9, 0.9), 1),
        "also solved well": (TaskStanding(1, 1, 10.0, 0.5, 3.0), 1),
    }
    assert sorted(stood, key=lambda name: order_by_gain(name, *stood[name])) == [
        "loses 100 µs",
        "loses 10 µs",
        "solved a little",
        "also solved well",
        "solved well",
        "tried in more models",
        "never tried",
    ]
