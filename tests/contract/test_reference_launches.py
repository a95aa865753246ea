"""A reference bundle computes what eager does, of arguments of any form."""

import shutil
from pathlib import Path

import pytest

from tests.contract import references
from tests.contract.interpreted import run_interpreted

pytestmark = pytest.mark.settled

TRIED = """
import importlib, inspect, json, pathlib, sys

here = pathlib.Path(__file__).parent
# a pass imports its helpers by their names, or from pass_dir
sys.path.insert(0, str(here.parent))
NAMES = json.loads((here / "sorted_output_pass_rule_names.json").read_text())
MODULES = [importlib.import_module(name) for name in NAMES]
NUMBERS = {"p": 0.1, "eps": 1e-5, "momentum": 0.1, "scale": 0.5, "cap": 5.0, "half": 4}
OTHERS = {"eps": (0.5, 3, 3.0), "scale": (2.5, 3, 3.0), "cap": (2.5, 3, 3.0), "half": (3,), "narrow": (torch.bfloat16,)}


def sizes(module, shape):
    "Shapes of all tensors that the bundles take, by name."
    repeated = (shape[0], 1, *shape[2:])
    channels = (shape[1 if module.__name__.startswith("batchnorm") else -1],)
    bias = (1, *shape[1:]) if "softmax" in module.__name__ else channels
    whole = dict.fromkeys(("x", "gate", "up", "both", "residual", "scores"), shape)
    vectors = dict.fromkeys(("mean", "variance", "weight"), channels)
    return {**whole, **vectors, **dict.fromkeys(("cos", "sin", "mask"), repeated), "bias": bias}


def lying(values, how):
    "The values in memory of their own: with gaps, with two axes exchanged, or one element off its start."
    if how == "one":
        # repeated along the first axes
        return values[:1, :1].clone()
    if how == "gaps":
        memory = torch.empty(*values.shape, 2, dtype=values.dtype)[..., 0]
    elif how == "gaps between rows":
        memory = torch.empty(*values.shape[:-1], 2 * values.shape[-1], dtype=values.dtype)[..., : values.shape[-1]]
    elif how == "exchanged":
        memory = torch.empty(values.transpose(1, 2).shape, dtype=values.dtype).transpose(1, 2)
    elif how == "unaligned":
        memory = torch.empty(values.numel() + 1, dtype=values.dtype)[1:].view(values.shape)
    else:
        memory = torch.empty(values.shape, dtype=values.dtype)
    return memory.copy_(values)


def arguments(module, shape, dtype, only, how, numbers):
    "Arguments of the pattern, by name. only: the tensors that have this dtype, and lie so."
    made = torch.Generator().manual_seed(0)
    numbers = {**NUMBERS, "narrow": dtype, "width": shape[-1], **numbers}
    result = {}
    for name in inspect.signature(module.pattern).parameters:
        if name in numbers:
            result[name] = numbers[name]
            continue
        values = torch.randn(sizes(module, shape)[name], generator=made)
        # variances are positive
        values = values.abs() + 0.5 if name == "variance" else values
        asked = name in only
        result[name] = lying(values.to(dtype if asked else torch.float32), how if asked else "")
    return result


def tried(module, *, eager=True, shape=(2, 4, 6, 8), dtype=torch.float32, only=None, how="", **numbers):
    "Compare a call with eager, or make it."
    only = only or sizes(module, shape)
    given, same = (arguments(module, shape, dtype, only, how, numbers) for _ in range(2))
    results = module.replacement_func()(*module.replacement_args(**given))
    where = f"{module.__name__}, {shape}, {dtype}, {', '.join(only)} {how}, {numbers}"
    if eager:
        near = dict.fromkeys(("rtol", "atol"), 1e-5 if dtype == torch.float32 and "narrow" not in numbers else 0.02)
        expected = module.pattern(**same)
        torch.testing.assert_close(results, expected, **near, msg=lambda text: f"{where}: {text}")
        # what eager changes in place is changed here too
        for name, value in same.items():
            if torch.is_tensor(value):
                torch.testing.assert_close(given[name], value, **near, msg=lambda text: f"{where}, {name}: {text}")


for module in MODULES:
    named, shapes = inspect.signature(module.replacement_args).parameters, sizes(module, (2, 4, 6, 8))
    tensors = [name for name in named if name in shapes]
    # a weight decides the dtype of a result beside the narrow one
    numbers = [name for name in OTHERS if name in named and not (name == "narrow" and "weight" in named)]
    tried(module)
    tried(module, dtype=torch.float16)
    tried(module, shape=(3, 2, 5, 8))
    for name in tensors:
        tried(module, only=[name], how="unaligned")
        if len(tensors) > 1:
            # eager does not take every mixture of dtypes
            tried(module, eager=False, only=[name], dtype=torch.float16, narrow=torch.float32)
    for name in numbers:
        for other in OTHERS[name]:
            tried(module, **{name: other})
    # as many elements, but in other rows
    tried(module, shape=(2, 4, 3, 16), half=8)
    for name in tensors:
        tried(module, only=[name], how="gaps")
        tried(module, only=[name], how="gaps between rows")
        if len(shapes[name]) == 4:
            tried(module, only=[name], how="exchanged")
    repeated = [name for name in tensors[1:] if len(shapes[name]) == 4]
    # what is added to in place cannot be repeated
    if repeated and not module.__name__.startswith("batchnorm"):
        for names in (*([name] for name in repeated), repeated):
            tried(module, only=names, how="one")
print("as eager")
"""


@pytest.mark.parametrize("launched", references.REFERENCES, ids=lambda folder: folder.name)
def test_a_reference_bundle_computes_what_eager_does_of_whatever_arguments(launched: Path, tmp_path: Path) -> None:
    shutil.copytree(launched, tmp_path / "pass_dir")
    assert run_interpreted(TRIED, tmp_path) == "as eager"


SAME = """
from batchnorm_add_relu import pattern, replacement_args, replacement_func

x, mean, variance, weight, bias = torch.randn(2, 3, 4, 5), *torch.rand(4, 3)
same = x.clone()
expected = pattern(same, same, mean, variance, weight, bias, 0.1, 1e-5)
found = replacement_func()(*replacement_args(x, x, mean, variance, weight, bias, 0.1, 1e-5))
torch.testing.assert_close((found, x), (expected, same))
print("added")
"""


def test_a_residual_that_is_the_normalised_tensor_itself_is_added(tmp_path: Path) -> None:
    shutil.copytree(references.DATA / "bundles" / "activation-batchnorm", tmp_path / "pass_dir")
    assert run_interpreted(SAME, tmp_path) == "added"
