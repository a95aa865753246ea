"""The plan of a verification's calls: random, within bounds that hold for every seed."""

import pytest

from passnet_core.judge.numerics.input_draws import INPUT_DRAWS
from passnet_core.judge.stages.schedule import MOST_REPEATS, again_named, planned_draws
from tests.contract.verifying import Here, relu_of_sum, verified

SEEDS = range(200)


@pytest.fixture(scope="module")
def plans() -> list[tuple[str, ...]]:
    return [tuple(each.input_draw for each in planned_draws(INPUT_DRAWS, seed, candidate=True)) for seed in SEEDS]


def test_every_input_draw_is_made_in_every_plan(plans: list[tuple[str, ...]]) -> None:
    assert all(set(INPUT_DRAWS) <= set(each) for each in plans)


def test_order_number_and_last_draw_cannot_be_known(plans: list[tuple[str, ...]]) -> None:
    assert {len(each) for each in plans} == {6 + more for more in range(MOST_REPEATS + 1)}
    assert {each[0] for each in plans} >= set(INPUT_DRAWS)
    assert {each[-1] for each in plans} >= set(INPUT_DRAWS)


def test_each_plan_looks_closer_at_some_draws() -> None:
    for seed in SEEDS:
        plan = planned_draws(INPUT_DRAWS, seed, candidate=True)
        assert plan[0].fresh
        assert sum(each.again for each in plan) == 2
        assert all(each.exchanges >= 2 and each.relocates for each in plan if each.input_draw == "typical")
        assert any(each.watched for each in plan) or any(each.again for each in plan)


def test_inductor_and_passnets_profile_get_one_call_for_each_draw_in_order() -> None:
    plan = planned_draws(INPUT_DRAWS, 3, candidate=False)
    assert [each.input_draw for each in plan] == list(INPUT_DRAWS)
    assert [each.calls for each in plan] == [1] * 6
    assert 1 <= sum(each.fresh for each in plan) < 6


def test_a_draw_that_is_made_again_has_another_name() -> None:
    assert again_named("typical") == "typical 2"
    assert again_named("edges 2") == "edges 3"


def test_the_calls_of_a_verification_are_those_of_its_plan() -> None:
    worker = Here()
    verified(relu_of_sum, candidate=worker)
    plan = planned_draws(INPUT_DRAWS, 11, candidate=True)
    # each draw that is called again is called with idle kernels
    assert len(worker.ran) == sum(each.calls + each.again for each in plan)
