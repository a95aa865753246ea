"""Plans on a GPU: what a written function does is what the plan says."""

from pathlib import Path

import pytest

from tests.gpu.scripts import run_apart

pytestmark = pytest.mark.gpu

SCRIPT = """
import torch

from passnet_core.judge.plan.on_gpu import recognizer
from passnet_core.judge.plan.wanted import PlanWanted
from tests.gpu.made_plans import COUNT, KEY, both, bytes_of, launch, learned, made, place, plan, scaled

x = torch.randn(COUNT, device="cuda")
OUT = place("made 0")

# one launch into memory that is returned
found, watched, known = both(plan([scaled(place("argument 0"), OUT)], OUT, [made()]), (x,))
assert torch.equal(found, x * 2 + 1) and torch.equal(watched, found) and not known.problems

# other forms want other plans; the fast path knows its own
for other in (x[:10], x.double(), x.view(2, 500), torch.empty(COUNT + 1, device="cuda")[1:]):
    try:
        known.functions([KEY])[KEY](other)
        raise AssertionError(other.shape)
    except PlanWanted:
        pass
alike = recognizer((x, 3))
assert alike(x.clone(), 3) and not alike(x, 4) and not alike(x, True) and not alike(x[:9], 3) and not alike(x.half(), 3)

# fills of memory that is made, of a part of it, and copies; views of what is made
half = place("made 0", (COUNT // 2,), 2 * COUNT)
steps = [{"fill": half, "bytes": bytes_of(-1.0)},
         {"copy": place("argument 0", (10,), 40), "to": place("made 0", (10,))}]
(whole, view), again, known = both(plan(steps, {"tuple": [OUT, half]}, [made(7.0)]), (x,))
wanted = torch.full((COUNT,), 7.0, device="cuda")
wanted[COUNT // 2 :], wanted[:10] = -1.0, x[10:20]
assert torch.equal(whole, wanted) and torch.equal(view, wanted[COUNT // 2 :])
assert view.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()
assert known.copied, "copies alone make the results"

# a tensor of no axes
one = place("made 0", (), strides=())
found, watched, _ = both(plan([], one, [{"bytes": 4, "fill": bytes_of(1.5)}]), (x,))
assert found.shape == () and found.item() == watched.item() == 1.5

# memory that nobody writes holds nonsense where calls are watched, another in the next one
(_, watched, known) = both(plan([], OUT, [made()]), (x,))
assert watched.abs().min() > 1e30 and not torch.equal(watched, known.watching([KEY])[KEY](x))

# constants, an argument in place, and an argument that must stay
constant = torch.arange(COUNT, dtype=torch.float32)
said = plan([scaled(place("constant 0"), place("argument 0"))], place("argument 0"), constants=1)
mine = x.clone()
found, watched, known = both(said, (mine,), [constant.view(torch.uint8)])
assert found is mine and torch.equal(mine, constant.cuda() * 2 + 1) and not known.problems
known, _ = learned(said, (x,), [constant.view(torch.uint8)], [KEY])
known.watching([KEY])[KEY](x.clone())
assert any("in place" in each for each in known.problems), known.problems

# of an autotuner's configurations those that compile, the fastest if nobody watches
choices = [
    [launch("refused", [place("argument 0")], {"BLOCK": 32})],
    [scaled(place("argument 0"), OUT, block=128)],
    [scaled(place("argument 0"), OUT, block=128, warps=1)],
]
found, watched, known = both(plan([{"choices": choices}], OUT, [made()]), (x,))
assert torch.equal(found, x * 2 + 1) and torch.equal(watched, found)
(ready,) = known.known.values()
assert len(ready.choices[0].functions) == 2
"""


def test_a_written_function_does_what_its_plan_says(tmp_path: Path) -> None:
    run_apart(SCRIPT, tmp_path)
