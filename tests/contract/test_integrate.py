"""Passes inside a model: what torch.compile gives the backend, what it does with it, and what it says of it."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import PROJECT, run_interpreted

pytestmark = pytest.mark.long

HEAD = '''
import copy, json, sys, warnings
from pathlib import Path
import torch
from passnet_core.judge.worker import interpreter
interpreter.mend()
from passnet_core.errors import BadInput
from passnet_core.integrate import PassFailed, PassWarning, backend

BODY = """
import torch, triton, triton.language as tl


@triton.jit
def added(x_ptr, y_ptr, out_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < n
    x, y = tl.load(x_ptr + at, mask=inside), tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.maximum(x + y, 0.0), mask=inside)


def pattern(x, y):
    return torch.relu(x + y)


def replacement_args(x, y):
    return (x, y)


@torch.fx.wrap
def fused(x, y):
    CALLS.append(1)
    x, y = (each.contiguous() for each in torch.broadcast_tensors(x, y))
    out = torch.empty_like(x)
    added[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), B=256)
    return out


CALLS = []


def replacement_func():
    return fused
"""


def folder(name, body=BODY, **helpers):
    place = Path(name)
    place.mkdir()
    (place / "added.py").write_text(body)
    for helper, text in helpers.items():
        (place / f"{helper}.py").write_text(text)
    (place / "sorted_output_pass_rule_names.json").write_text('["added"]')
    return place


class Plain(torch.nn.Module):
    # two matches, and one weight under two names
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        self.second.weight = self.first.weight

    def forward(self, x, y):
        return torch.relu(self.second(torch.relu(self.first(x) + y)) + y)


class Broken(torch.nn.Module):
    def forward(self, x, y):
        z = torch.relu(x + y)
        torch._dynamo.graph_break()
        return torch.relu(z * 2 + y)


class Buffers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(8)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x, y):
        self.count.add_(1)
        return torch.relu(self.norm(x) + y) + self.count


class Dropping(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.nn.functional.dropout(x, 0.5, True) + y)


class Following(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.relu(x + y) + y)


class Reshaping(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y), torch.reshape(torch.tanh(x), (x.shape[0] * 2, -1))


class Strided(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x.t() + y.t()), torch.relu(x[:, ::2] + y[:, ::2]).view(-1)


class Branching(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,)) + y)


def two(rows=4):
    return torch.randn(rows, 8), torch.randn(rows, 8)


def compared(model, bundle, calls, rest="eager", **options):
    """Call the model with and without passes on each of these inputs; both must do the same. Return the explanation."""
    torch._dynamo.reset()
    used = backend(bundle, rest=rest)
    own, other = copy.deepcopy(model), copy.deepcopy(model)
    compiled = torch.compile(own, backend=used, **options)
    with torch.no_grad():
        for inputs in calls:
            results = []
            for function in (other, compiled):
                torch.manual_seed(3)
                found = function(*inputs)
                results.append(found if isinstance(found, tuple) else (found,))
            for wanted, given in zip(*results, strict=True):
                torch.testing.assert_close(given, wanted)
                assert given.stride() == wanted.stride() or given.is_contiguous(), (given.stride(), wanted.stride())
    torch.testing.assert_close(own.state_dict(), other.state_dict())
    return used.explain()


def counts(explanation):
    return [each.count for each in explanation.graphs]


def fails(bundle, rest):
    try:
        compared(Plain(), bundle, [two()], rest)
    except PassFailed as error:
        return str(error)
    raise AssertionError("nothing was raised")


class Biased(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8))

    def forward(self, x, y):
        return torch.relu(x + self.weight)


PREPARING = BODY.replace(
    "def replacement_func",
    """
def prepare(weights):
    PREPARED.append(sorted(weights))
    return {name: each.clone() for name, each in weights.items()}


PREPARED = []


def replacement_func""",
)


def prepared_weights(rest):
    # which weights were prepared in calls of a model, one of whose weights changes before the last of them
    from passnet_core.integrate.bundles import passes_of

    torch._dynamo.reset()
    model, used = Biased(), backend(folder(f"preparing-{rest}", PREPARING + f"# {rest}"), rest=rest)
    compiled = torch.compile(model, backend=used)
    with torch.no_grad():
        for change in (None, None, 1.0):
            if change is not None:
                model.weight.add_(change)
            x, y = two()
            torch.testing.assert_close(compiled(x, y), model(x, y))
    (hook,) = passes_of(used.bundles[0]).hooks.values()
    return hook.prepare.__globals__["PREPARED"]


RESHAPING = BODY.replace("torch.relu(x + y)", "torch.reshape(torch.tanh(x), y)")
FAILING = BODY.replace("    CALLS.append(1)", "    raise ValueError('no luck today')")
SAID = "The replacement of pass added raised ValueError: no luck today. Leave this pass out"
warnings.simplefilter("ignore", PassWarning)
'''

MODELS = """
passes = folder("passes")
found = compared(Plain(), passes, [two()])
assert counts(found) == [2] and found.graphs[0].matches == {"added": 2} and not found.missed
assert "graph 0, 6 operations: added × 2" in str(found), str(found)
assert counts(compared(Broken(), passes, [two()])) == [1, 1]
assert counts(compared(Buffers().train(), passes, [two(), two(), two()])) == [1]
assert counts(compared(Dropping(), passes, [two()])) == [1]
assert counts(compared(Branching(), passes, [two()])) == [1]
compared(Strided(), passes, [two()])
# sizes that vary: captured for any size at once, or once more when the second size comes
assert counts(compared(Plain(), passes, [two(4), two(5), two(7)], dynamic=True)) == [2]
assert counts(compared(Plain(), passes, [two(4), two(5), two(7)])) == [2, 2]

# a graph of which one match cannot be replaced stays as it was
from passnet_core.integrate.applying import apply
from passnet_core.integrate.bundles import passes_of
graph = torch.fx.symbolic_trace(Strided()).graph
made, before = [], str(graph)


def refusing_the_second(traced, args):
    made.append(args)
    if len(made) == 2:
        raise TypeError("no luck")
    return torch.relu, args


try:
    apply(graph, passes_of(backend(passes).bundles[0]).passes, refusing_the_second)
except TypeError as error:
    assert str(error) == "no luck"
assert len(made) == 2 and str(graph) == before, graph

# several bundles, in their order: what the first one takes the second cannot
other = folder("other", BODY.replace("torch.relu(x + y)", "x + y"))
found = compared(Plain(), [passes, other], [two()])
assert list(found.graphs[0].matches.values()) == [2], found
assert all(each.startswith("added of ") for each in [*found.graphs[0].matches, *found.missed]), found

found = compared(torch.nn.Linear(8, 8), passes, [two()[:1]])
assert found.graphs[0].left_alone == "no pass matches"
assert "torch.relu" in found.missed["added"], found.missed

assert SAID in fails(folder("failing", FAILING), "eager")
assert prepared_weights("eager") == [["y"], ["y"]]
"""

INDUCTOR = """
passes = folder("passes")
# a match that reads what another one has computed; and one that cannot be an operator beside one that can
assert counts(compared(Following(), passes, [two()], "inductor")) == [2]
reshaping = folder("reshaping", RESHAPING)
found = compared(Reshaping(), [passes, reshaping], [two()], "inductor", dynamic=True)
assert counts(found) == [1] and any("a list with computed numbers" in each for each in found.missed.values()), found
assert counts(compared(Plain(), passes, [two(4), two(5)], "inductor", dynamic=True)) == [2]
assert counts(compared(Strided(), passes, [two()], "inductor")) == [2]
# what was contiguous for contiguous inputs need not be so for others, also where no graph was compiled for them here
from passnet_core.integrate.operators import _Layouts
layouts, x = _Layouts(), torch.randn(4, 8)
# what torch.compile is told for Inductor reaches it, and says so where there is no Inductor
for options in ({"mode": "max-autotune-no-cudagraphs"}, {"options": {"max_fusion_size": 3}}):
    assert counts(compared(Plain(), passes, [two()], "inductor", **options)) == [2]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert counts(compared(Plain(), passes, [two()], **options)) == [2]
    assert any("are Inductor's" in str(each.message) for each in told), told
try:
    compared(Plain(), passes, [two()], "inductor", options={"no_such_option": 3})
except Exception as error:
    assert "no_such_option" in str(error), error
else:
    raise AssertionError("an option that Inductor does not know was taken")


def expected(value):
    copy = value.clone()
    layouts.note((value,), (copy,))
    return copy


assert layouts.followed((x + 0,), (x,), expected)[0].is_contiguous()
assert layouts.followed((x.t().contiguous(),), (x.t(),), expected)[0].stride() == x.t().stride()
# after a call that gave memory of its own, results may lie elsewhere
CHANGING = BODY.replace("    out = torch.empty_like(x)", '''    if len(CALLS) % 6 == 2:
        return x
    if len(CALLS) % 6 == 4:
        return x.t().contiguous().t()
    if len(CALLS) % 6 == 0:
        return torch.empty(x.numel() + 1)[1:].view_as(x).copy_(x)
    out = torch.empty_like(x)''')


class Keeping(torch.nn.Module):
    def forward(self, x, y):
        kept = torch.sigmoid(x)
        return kept, torch.relu(kept + y) * 3, torch.relu(kept + y).view(-1) + 1


nothing = [(torch.randn(4, 8), torch.zeros(4, 8)) for _ in range(7)]
DOUBLE = BODY.replace("return torch.relu(x + y)", "return torch.relu(x + y), torch.relu(x + y) + 0")
DOUBLE = DOUBLE.replace("    return out", "    return out, out")


class Double(torch.nn.Module):
    def forward(self, x, y):
        z = torch.sigmoid(x)
        return torch.relu(z + y) * 2, (torch.relu(z + y) + 0) * 3


assert counts(compared(Double(), folder("double", DOUBLE), nothing, "inductor")) == [1]
assert counts(compared(Keeping(), folder("changing", CHANGING), nothing, "inductor")) == [2]
in_place = folder("in_place", BODY.replace("torch.relu(x + y)", "torch.relu(x.add_(y))"))
found = compared(Plain(), in_place, [two()], "inductor")
assert counts(found) == [0]
assert "added is left out: its pattern changes a tensor in place" in str(found), str(found)
assert SAID in fails(folder("failing", FAILING), "inductor")
assert prepared_weights("inductor") == [["y"], ["y"]]
"""

TRAINING = """
passes = folder("passes")
model, used = Plain(), backend(passes)
compiled = torch.compile(model, backend=used)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for rows in (4, 5, 6):
        x, y = two(rows)
        torch.testing.assert_close(compiled(x, y), model(x, y))
    compiled(x, y).sum().backward()
assert model.first.weight.grad is not None
found = [str(each.message) for each in said if each.category is PassWarning]
assert len(found) == 1 and "torch.no_grad()" in found[0], found
assert all("captured for training" in each.left_alone for each in used.explain().graphs)
with torch.inference_mode():
    compiled(x, y)
assert used.explain().graphs[-1].count == 2
"""

BUNDLES = """
def refused(*args, **kwargs):
    try:
        backend(*args, **kwargs)
    except BadInput as error:
        return str(error)
    raise AssertionError("nothing was refused")


def unaccepted(*args, **kwargs):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        backend(*args, **kwargs)
    return [str(each.message) for each in said if each.category is PassWarning]


passes = folder("passes")
digest = backend(passes).bundles[0].digest
assert "does not exist" in refused("nowhere")
assert "No bundle" in refused("0123456789abcdef")
assert "neither 'eager' nor 'inductor'" in refused(passes, rest="cuda")
assert "it is another one, or was changed" in refused(passes, digest="beef")
assert "cannot be imported: added.py does not define pattern()" in refused(folder("empty", "import torch\\n"))
assert "no luck" in refused(folder("raising", "raise RuntimeError('no luck')\\n"))
(said,) = unaccepted(passes, digest=digest[:8])
assert "does not come with the playground" in said

from passnet_core.bundles.reading import read_bundle
from passnet_core.settings import BUNDLED_DATA
reference = BUNDLED_DATA / "bundles" / "gating-swiglu"
assert unaccepted(reference) == []
rmsnorm = BUNDLED_DATA / "bundles" / "normalisation-rmsnorm"
assert unaccepted([reference, rmsnorm]) == []
pins = [read_bundle(each).digest[:9] for each in (reference, rmsnorm)]
assert unaccepted([reference, rmsnorm], digest=",".join(pins)) == []
assert "it is another one" in refused([reference, rmsnorm], digest=",".join(reversed(pins)))
assert "2 bundles and 1 digests" in refused([reference, rmsnorm], digest=pins[0])
assert "No bundle is named" in refused([])
assert unaccepted(read_bundle(reference).digest[:10]) == []

# bundles whose files have the same names, and a program's own modules of these names, stay apart
Path("names.py").write_text("OWN = True\\n")
sys.path.insert(0, ".")
import names
one = folder("one", BODY + "from names import NUMBER\\n", names="NUMBER = 1\\n")
two_ = folder("two", BODY + "from pass_dir.names import NUMBER\\n", names="NUMBER = 2\\n")
paths = list(sys.path)
made = [backend(each) for each in (one, two_)]
from passnet_core.integrate.bundles import passes_of
numbers = [next(iter(passes_of(each.bundles[0]).replacements.values())).__globals__["NUMBER"] for each in made]
assert numbers == [1, 2], numbers
import names as again
assert again is names and names.OWN and sys.path == paths and "pass_dir" not in sys.modules
"""


LINKED = pytest.mark.skipif(
    " " in sys.prefix, reason="torch 2.13 links no C++ for Inductor where it lies in a path with blanks"
)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(MODELS, id="models"),
        pytest.param(INDUCTOR, id="inductor", marks=LINKED),
        pytest.param(TRAINING, id="training"),
        pytest.param(BUNDLES, id="bundles"),
    ],
)
def test_passes_in_a_model(script: str, tmp_path: Path) -> None:
    run_interpreted(script, tmp_path, head=HEAD)


def test_nothing_of_the_app_is_loaded(tmp_path: Path) -> None:
    """In an environment with torch and triton only, the backend works as well."""
    script = """
        import sys
        import torch, triton
        before = {name.partition(".")[0] for name in sys.modules}
        from passnet_core.integrate import backend
        from passnet_core.settings import BUNDLED_DATA
        backend(BUNDLED_DATA / "bundles" / "gating-swiglu", rest="inductor")
        more = {name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
        print(*sorted(name for name in more if not name.startswith(("_", "passnet_core"))))
    """
    run = [sys.executable, "-c", textwrap.dedent(script)]
    said = subprocess.run(run, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert said.stdout.split() == [], said.stdout
