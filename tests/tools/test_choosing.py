"""The choice of a benchmark from very many tasks, and of subgraphs within a task."""

from collections import Counter

from passnet_core.corpus.likeness import grams, likeness
from passnet_core.corpus.members import spread
from passnet_core.records import Family, Subgraph, Task, TensorSpec
from tools.choosing import Quota, chosen, most_varied

QUOTAS = (Quota(Family.FUSIBLE, range(2, 4), 2, 3, 2), Quota(Family.SINGLE, range(1, 2), 5, 2, 1))


def always(task: Task) -> bool:
    return True


def member(task_id: str, lines: tuple[str, ...], model: str, dtype: str = "float32", size: int = 0) -> Subgraph:
    body = "".join(f"        {line}\n" for line in lines)
    code = (
        f"import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n{body}"
        f"        return (tmp_{len(lines) - 1},)\n"
    )
    return Subgraph(f"{dtype}/{size}/{model}_op0", task_id, model, code, (TensorSpec("in_0", (4, 4), dtype),))


def task(task_id: str, *operations: str, models: int = 2, family: Family = Family.FUSIBLE) -> Task:
    lines = tuple(
        f"tmp_{index} = torch.{operation}({'in_0' if index == 0 else f'tmp_{index - 1}'})"
        for index, operation in enumerate(operations)
    )
    members = (member(task_id, lines, f"model-{number}") for number in range(models))
    return Task(task_id, family, "train", tuple(members))


def names(tasks: tuple[Task, ...], taken: tuple[tuple[str, ...], ...] = ()) -> list[str]:
    return [each.id for each in chosen(tasks, taken, always, QUOTAS)]


def test_common_tasks_are_chosen_first_and_then_unlike_ones() -> None:
    common = task("common", "exp", "relu", models=8)
    similar = task("similar", "exp", "relu", "tanh", models=7)
    other = task("other", "sin", "cos", models=4)
    assert names((similar, other, common)) == ["common", "other"]
    assert names((similar, other, common), taken=(("exp", "relu"),)) == ["other", "similar"]


def test_another_task_replaces_one_that_does_not_run() -> None:
    tasks = (task("a", "exp", "relu", models=8), task("b", "sin", "cos"), task("c", "tanh", "abs"))
    assert [each.id for each in chosen(tasks, (), lambda each: each.id != "a", QUOTAS)] == ["b", "c"]


def test_a_quota_is_kept() -> None:
    tasks = (
        task("a", "exp", "relu"),
        task("b", "sin", "cos"),
        task("c", "tanh", "abs"),
        task("long", "exp", "relu", "tanh", "abs"),
        task("rare", "log", "neg", models=1),
        task("one", "exp", family=Family.SINGLE, models=9),
    )
    found = {each.id: each for each in chosen(tasks, (), always, QUOTAS)}
    assert len(found) == 3
    assert {"long", "rare"}.isdisjoint(found)
    assert len(found["one"].subgraphs) == 2


def test_idle_and_random_tasks_are_not_chosen() -> None:
    assert names((task("views", "squeeze", "flatten"),)) == []
    assert names((task("random", "exp", "rand_like"),)) == []
    assert names((task("looked-up", "exp", "nonzero"),)) == []
    still = ("tmp_0 = torch.nn.functional.dropout(in_0, 0.1, False, False)",)
    nothing = Task("still", Family.SINGLE, "train", (member("still", still, "model"),))
    assert names((nothing, task("one", "exp", family=Family.SINGLE))) == ["one"]


def test_the_choice_does_not_depend_on_the_order_of_tasks() -> None:
    tasks = [task(name, *name.split("-"), models=3) for name in ("exp-relu", "sin-cos", "tanh-abs", "exp-abs")]
    operators = {each.id: tuple(each.id.split("-")) for each in tasks}
    first = [each.id for each in most_varied(tasks, operators, 3, always)]
    assert first == [each.id for each in most_varied(tasks[::-1], operators, 3, always)]


def test_members_are_of_many_models_dtypes_and_sizes() -> None:
    members = [
        member("t", ("tmp_0 = torch.exp(in_0)",), f"model-{model}", dtype, size)
        for model in range(6)
        for dtype in ("float32", "float16", "bfloat16")
        for size in range(4)
    ]
    found = spread(members, 12)
    assert Counter(each.source_model for each in found) == {f"model-{model}": 2 for model in range(6)}
    assert Counter(each.dtype for each in found) == {"float32": 4, "float16": 4, "bfloat16": 4}
    assert len({each.id.rpartition("/")[0] for each in found}) == 12, "every size of every dtype"
    assert found == spread(members[::-1], 12)
    assert spread(members[:3], 12) == tuple(sorted(members[:3], key=lambda each: each.id))


def test_likeness_is_the_share_of_common_stretches() -> None:
    assert likeness(grams(("a", "b")), grams(("a", "b"))) == 1
    assert likeness(grams(("a", "b")), grams(("b", "a"))) == 0.5
    assert likeness(grams(("a",)), grams(("b",))) == 0
    assert likeness(grams(()), grams(())) == 0
