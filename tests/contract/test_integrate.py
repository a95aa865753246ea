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
from passnet_core.judge.gpu_on_cpu import interpreter
interpreter.mend()
from passnet_core.errors import BadInput
from passnet_core.integrate import PassFailed, PassWarning, backend

BODY = """
import torch, triton, triton.language as tl


@triton.jit
def added(x_ptr, y_ptr, out_ptr, n, more, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < n
    x, y = tl.load(x_ptr + at, mask=inside), tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.maximum(x + y, 0.0) + more, mask=inside)


def pattern(x, y):
    return torch.relu(x + y)


def replacement_args(x, y):
    return (x, y)


@torch.fx.wrap
def fused(x, y):
    x, y = (each.contiguous() for each in torch.broadcast_tensors(x, y))
    out = torch.empty_like(x)
    added[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), MORE, B=256)
    return out


MORE = 0.0


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


def compared(model, bundle, calls, rest="eager", verify="first", **options):
    """Call the model with and without passes on each of these inputs; both must do the same. Return the explanation."""
    torch._dynamo.reset()
    used = backend(bundle, rest=rest, verify=verify)
    own, other = copy.deepcopy(model), copy.deepcopy(model)
    compiled = torch.compile(own, backend=used, **options)
    with torch.no_grad():
        for inputs in calls:
            results = []
            for function in (other, compiled):
                torch.manual_seed(3)
                found = function(*copy.deepcopy(inputs))
                results.append(found if isinstance(found, tuple) else (found,))
            for wanted, given in zip(*results, strict=True):
                torch.testing.assert_close(given, wanted)
                assert given.stride() == wanted.stride() or given.is_contiguous(), (given.stride(), wanted.stride())
    torch.testing.assert_close(own.state_dict(), other.state_dict())
    return used.explain()


def counts(explanation):
    return [each.count for each in explanation.graphs]


def fails(bundle, rest):
    # a replacement that raises: in the first call its matches are left alone, without that call the call ends
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert counts(compared(Plain(), bundle, [two()] * 2, rest)) == [0]
    told = [str(each.message) for each in told if "does not do what it replaces" in str(each.message)]
    assert len(told) == 1 and "it has no plan: ValueError: no luck today" in told[0], told
    try:
        compared(Plain(), bundle, [two()], rest, verify="never")
    except PassFailed as error:
        return str(error)
    raise AssertionError("nothing was raised")


class Biased(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8))

    def forward(self, x, y):
        return torch.relu(x + self.weight)


# what prepare() makes of the weights shows in the results
PREPARING = BODY.replace("added[", "halved[").replace("def replacement_func", """
def prepare(weights):
    assert list(weights) == ["y"]
    return {name: each + each for name, each in weights.items()}


@triton.jit
def halved(x_ptr, y_ptr, out_ptr, n, more, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < n
    x, y = tl.load(x_ptr + at, mask=inside), tl.load(y_ptr + at % 8, mask=inside)
    tl.store(out_ptr + at, tl.maximum(x + y * 0.5, 0.0), mask=inside)


def replacement_func""")
BROADCAST = "x, y = (each.contiguous() for each in torch.broadcast_tensors(x, y))"
PREPARING = PREPARING.replace(BROADCAST, "x = x.contiguous()")


def prepared_weights(rest):
    # without the promise that they stay, nothing is prepared; with it, each change is seen of which torch knows, and
    # any other after refresh()
    preparing = folder(f"preparing-{rest}", PREPARING + f"# {rest}")
    found = compared(Biased(), preparing, [two()], rest)
    assert counts(found) == [0] and "prepares weights, and a plan has them as they were" in str(found), str(found)
    torch._dynamo.reset()
    model, used = Biased(), backend(preparing, rest=rest, frozen=True)
    compiled = torch.compile(model, backend=used)
    with torch.no_grad():
        for change in (lambda: None, lambda: None, lambda: model.weight.add_(1.0)):
            change()
            x, y = two()
            torch.testing.assert_close(compiled(x, y), model(x, y))
        assert counts(used.explain()) == [1]
        for value in (2.0, 3.0):
            model.weight.detach().numpy()[:] = value
            assert not torch.allclose(compiled(x, y), model(x, y))
            used.refresh()
            torch.testing.assert_close(compiled(x, y), model(x, y))


def refused_verify(verify):
    try:
        backend("nowhere", verify=verify)
    except BadInput as error:
        return error
    raise AssertionError("nothing was refused")


RESHAPING = BODY.replace("torch.relu(x + y)", "torch.reshape(torch.tanh(x), y)")
FAILING = BODY.replace("    out = torch.empty_like(x)", "    raise ValueError('no luck today')")
SAID = "The replacement of pass added has no plan: ValueError: no luck today. Leave this pass out"
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
from passnet_core.integrate.plans import plans_of
graph = torch.fx.symbolic_trace(Strided()).graph
made, before = [], str(graph)


def refusing_the_second(traced, args, examples):
    made.append(args)
    if len(made) == 2:
        raise TypeError("no luck")
    return torch.add


try:
    apply(graph, plans_of(backend(passes).bundles[0]).passes, refusing_the_second, lambda *match: False)
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
prepared_weights("eager")
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


# with sizes other than those of the first call, results may lie elsewhere
CHANGING = BODY.replace("    out = torch.empty_like(x)", '''    if x.shape[0] == 5:
        return x
    if x.shape[0] == 6:
        return x.t().contiguous().t()
    if x.shape[0] == 7:
        return torch.empty(x.numel() + 1, device=x.device)[1:].view_as(x).copy_(x)
    out = torch.empty_like(x)''')


class Keeping(torch.nn.Module):
    def forward(self, x, y):
        kept = torch.sigmoid(x)
        return kept, torch.relu(kept + y) * 3, torch.relu(kept + y).view(-1) + 1


nothing = [(torch.randn(rows, 8), torch.zeros(rows, 8)) for rows in (4, 4, 5, 6, 7, 4, 7)]
DOUBLE = BODY.replace("return torch.relu(x + y)", "return torch.relu(x + y), torch.relu(x + y) + 0")
DOUBLE = DOUBLE.replace("    return out", "    return out, out")


class Double(torch.nn.Module):
    def forward(self, x, y):
        z = torch.sigmoid(x)
        return torch.relu(z + y) * 2, (torch.relu(z + y) + 0) * 3


assert counts(compared(Double(), folder("double", DOUBLE), nothing, "inductor", "never", dynamic=True)) == [1]
assert counts(compared(Keeping(), folder("changing", CHANGING), nothing, "inductor", "never", dynamic=True)) == [2]

# results whose memory has gaps, or whose elements share it
LYING = {
    "torch.relu(x + y)[:, :6]": lambda z: z[:, :6], "torch.relu(x + y)[:1].expand(4, 8)": lambda z: z[:1].expand(4, 8),
    # in evaluation dropout returns what it is given, as it lies
    "torch.nn.functional.dropout(torch.relu(x + y)[:, :6], 0.5, False)":
        lambda z: torch.nn.functional.dropout(z[:, :6], 0.5, False),
}
for number, (text, cut) in enumerate(LYING.items()):
    class Lying(torch.nn.Module):
        def forward(self, x, y):
            z = cut(torch.relu(x + y))
            return torch.sigmoid(z) * 2, z

    returned = "[:1].expand(4, 8)" if "expand" in text else "[:, :6]"
    text = BODY.replace("torch.relu(x + y)", text).replace("return out", f"return out{returned}")
    found = compared(Lying(), folder(f"lying{number}", text), [two()] * 2, "inductor")
    assert counts(found) == [1], str(found)
in_place = folder("in_place", BODY.replace("torch.relu(x + y)", "torch.relu(x.add_(y))"))
found = compared(Plain(), in_place, [two()], "inductor")
assert counts(found) == [0]
assert "added is left out: its pattern changes a tensor in place" in str(found), str(found)
assert SAID in fails(folder("failing", FAILING), "inductor")
prepared_weights("inductor")
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

DIFFERENT = """
# a pass that is right on some inputs only is found out in the first call with others, and then left alone for good
WRONG = BODY.replace("x.numel(), MORE", "x.numel(), float(x.shape[0] == 5)")
for rest in ("eager", "inductor"):
    wrong, torch._dynamo.config.cache_size_limit = folder(f"wrong-{rest}", WRONG + f"# {rest}"), 64
    torch._dynamo.reset()
    used = backend(wrong, rest=rest)
    model = Plain()
    compiled = torch.compile(model, backend=used, dynamic=True)
    with torch.no_grad(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for rows in (4, 4, 4, 6):
            x, y = two(rows)
            torch.testing.assert_close(compiled(x, y), model(x, y))
        assert counts(used.explain()) == [2] and not any(each.category is PassWarning for each in told), told
        for rows in (5, 5, 4):
            x, y = two(rows)
            torch.testing.assert_close(compiled(x, y), model(x, y))
    (told,) = [str(each.message) for each in told if each.category is PassWarning]
    assert "Pass added of bundle" in told and "output 0: " in told and "float32[5, 8] on cpu" in told, told
    found = used.explain()
    assert counts(found) == [0] and len(found.graphs[0].stayed) == 2 and "left to its own operations" in str(found)
    # nobody asked: it does what it does
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend(wrong, rest=rest, verify="never"), dynamic=True)
    with torch.no_grad():
        x, y = two(5)
        assert not torch.allclose(compiled(x, y), model(x, y))
    # each call is compared
    BOUNDED = BODY.replace("tl.maximum(x + y, 0.0)", "tl.minimum(tl.maximum(x + y, 0.0), 50.0)")
    large = [*[two()] * 4, tuple(100 * each for each in two())]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bounded = folder(f"bounded-{rest}", BOUNDED + f"# {rest}")
        assert counts(compared(Following(), bounded, large, rest, "always")) == [0]
    assert any("does not do what it replaces" in str(each.message) for each in told), told
assert "none of 'first'" in str(refused_verify("sometimes"))

# draws of random numbers by the model go on as without passes
class Drawing(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y), torch.rand(3), torch.nn.functional.dropout(x, 0.5, True)


assert counts(compared(Drawing(), folder("drawn"), [two()] * 2)) == [1]

# a pattern that changes a tensor in place, and one whose result is a view of what it takes
CHANGES = BODY.replace("torch.relu(x + y)", "torch.relu(x.add_(y))").replace(
    "    tl.store(", "    tl.store(x_ptr + at, x + y, mask=inside)\\n    tl.store("
).replace("    x, y = (each", "    y = y.expand_as(x).contiguous()\\n    assert x.is_contiguous()  # (each")


class Changing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4, 8))

    def forward(self, x, y):
        return torch.relu(self.seen.add_(y))


assert counts(compared(Changing(), folder("changes", CHANGES), [two()] * 3)) == [1]


class Adding(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x.add_(y))


# arguments that overlap, one tensor as both among them: calls with these are left to the operations
REREAD = CHANGES.replace("    tl.store(out_ptr", "    y = tl.load(y_ptr + at, mask=inside)\\n    tl.store(out_ptr")
x, y = two(5)
for verify in ("first", "never"):
    used = [two(), (x, x), (y[:2], y[2:4]), (x, x)]
    found = compared(Adding(), folder(f"reread-{verify}", REREAD), used, verify=verify)
    assert set(counts(found)) == {1}, found
VIEWED = BODY.replace("torch.relu(x + y)", "torch.relu(x + y), x.view(-1)").replace(
    "    return out", "    return out, x.clone().view(-1)"
)


class Viewed(torch.nn.Module):
    # what is written to the view must be seen in x
    def forward(self, x, y):
        z = x * 2
        r, v = torch.relu(z + y), z.view(-1)
        v.add_(1.0)
        return r, z


for rest in ("eager", "inductor"):
    found = compared(Viewed(), folder(f"viewed-{rest}", VIEWED + f"# {rest}"), [two()] * 3, rest)
    assert counts(found) == [int(rest == "eager")], found
assert any("view of what it takes" in each for each in found.graphs[0].stayed), found

# one whose results are a tensor and a view of it, which is changed in place: the change must be seen in the tensor, and
# the view lies where it lay
ROWS = BODY.replace("    return out", "    return out, out[:, 0]").replace(
    "    return torch.relu(x + y)", "    out = torch.relu(x + y)\\n    return out, out[:, 0]"
)


class Rows(torch.nn.Module):
    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def forward(self, x, y):
        out = torch.relu(x + y)
        row = out[:, 0]
        row.mul_(0.5)
        return (out, row) if self.whole else row


for rest in ("eager", "inductor"):
    for whole in (True, False):
        found = compared(Rows(whole), folder(f"rows-{rest}-{whole}", ROWS + f"# {rest}"), [two()] * 3, rest)
        if rest == "inductor":
            assert counts(found) == [0], found
assert any("view of what it makes" in each for each in found.graphs[0].stayed), found
"""

DOMAINS = """
from passnet_core.bundles.reading import read_bundle, write_bundle
from passnet_core.records import Device, JudgedSubgraph, Subgraph, TensorSpec

CODE = '''import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.relu(tmp_0)
        return (tmp_1,)
'''


def judged(*shapes, dtypes=("float32", "float32"), devices=(Device.CPU,), name="added"):
    specs = tuple(TensorSpec(f"in_{at}", shape, dtype) for at, (shape, dtype) in enumerate(zip(shapes, dtypes)))
    return JudgedSubgraph(Subgraph("s", "t", "m", CODE, specs), devices, (name,))


plain = read_bundle(folder("passes"))
number = 0


def reason(inputs, *judged_on, function=lambda x, y: torch.relu(x + y)):
    # why the pass is not applied, empty if it is
    global number
    number += 1
    place = Path(f"judged-{number}")
    write_bundle(plain, place, judged_on)
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        used = backend(place)
        found = torch.compile(function, backend=used)(*inputs)
    torch.testing.assert_close(found, function(*inputs))
    graph = used.explain().graphs[0]
    assert graph.count == int(not graph.stayed), used.explain()
    told = [str(each.message) for each in told if each.category is PassWarning]
    assert len(told) == bool(graph.stayed) and all("is not like what was judged" in each for each in told), told
    return graph.stayed[0].partition("judged: ")[2] if graph.stayed else ""


R = torch.randn
with torch.no_grad():
    assert reason((R(4, 8), R(4, 8)), judged((2, 16), (2, 16))) == ""
    assert reason((R(1, 8), R(1, 8)), judged((2, 16), (2, 16))) == ""
    assert reason((R(4, 8).t(), R(4, 8).t()), judged((2, 16), (2, 16))) == ""
    assert reason((R(4, 8), R(1, 8)), judged((2, 16), (1, 16))) == ""
    said = reason((R(4, 8), R(1, 8)), judged((2, 16), (2, 16)))
    assert said == "axis -2 of x and of y were equal, here 4 and 1", said
    said = reason((R(4, 8), R(4, 8)), judged((2, 16), (1, 16)))
    assert said == "axis -2 of y was 1, here 4", said
    assert reason((R(4, 8), R(4, 8)), judged((2, 16), (2, 16)), judged((2, 16), (1, 16))) == ""
    said = reason((R(4, 8), R(8)), judged((2, 16), (2, 16)))
    assert said == "y is float32[8], and was judged as float32[2, 16]", said
    said = reason((R(4, 8).half(), R(4, 8)), judged((2, 16), (2, 16)))
    assert said == "x is float16[4, 8], and was judged as float32[2, 16]", said
    assert reason((R(4, 8).half(),) * 2, judged((2, 16), (2, 16), dtypes=("float16", "float16"))) == ""
    said = reason((R(4, 8),), judged((2, 16), (2, 16)), function=lambda x: torch.relu(x + 2.0))
    assert said == "y is float, and was judged as float32[2, 16]", said
    said = reason((R(4, 8), R(4, 8)), judged((2, 16), (2, 16), devices=(Device.CUDA,)))
    assert said == "it was judged on CUDA only", said
    said = reason((R(4, 8), R(4, 8)), judged((2, 16), (2, 16), name="another"))
    assert said == "it matched nothing that was judged", said

# sizes that vary: what is known to be equal is
write_bundle(plain, Path("judged"), [judged((2, 16), (2, 16))])
assert counts(compared(Plain(), Path("judged"), [two(4), two(5)], dynamic=True)) == [2]
# a bundle that was changed since is one of which nothing is known
Path("judged/added.py").write_text(BODY + "# changed\\n")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert counts(compared(Plain(), Path("judged"), [two()])) == [2]
assert any("Nothing here says on what bundle" in str(each.message) for each in told), told
"""

LEFT_ALONE = """
passes, model = folder("passes"), Plain()


def said(function, inputs, rest="eager"):
    # what explain() says of the first graph; the function does what it does without passes
    torch._dynamo.reset()
    used = backend(passes, rest=rest)
    wanted, found = function(*inputs), torch.compile(function, backend=used)(*inputs)
    for one, other in zip(*((each if isinstance(each, tuple) else (each,) for each in (wanted, found))), strict=True):
        assert type(one) is type(other) and one.dtype == other.dtype, (one, other)
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)
    graphs = used.explain().graphs
    assert not any(each.count for each in graphs), used.explain()
    return graphs[0].left_alone if graphs else ""


def cast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.relu(model.first(x) + y)


def uncast(x, y):
    with torch.autocast("cpu", enabled=False):
        return torch.relu(x + y)


from torch.testing._internal.two_tensor import TwoTensor


class Named(torch.Tensor):
    pass


x, y = two()
for rest in ("eager", "inductor"):
    with torch.no_grad():
        assert "torch.autocast" in said(cast, (x, y), rest)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert "torch.autocast" in said(model, (x, y), rest)
        for function in (
            lambda a, b: torch.vmap(lambda x, y: torch.relu(x + y))(a, b),
            lambda a, b: torch.func.grad(lambda a: torch.relu(a + b).sum())(a),
            lambda a, b: torch.func.jvp(lambda a: torch.relu(a + b), (a,), (b,)),
            lambda a, b: torch.func.jacrev(lambda a: torch.relu(a + b))(a),
        ):
            assert "torch.func transforms it" in said(function, (x, y), rest)
        assert "TwoTensor, a subclass" in said(lambda x, y: torch.relu(x + y), (TwoTensor(x, x), TwoTensor(y, y)), rest)
        assert "Named, a subclass" in said(lambda x, y: torch.relu(x + y), (x.as_subclass(Named), y), rest)
        # a transform around the compiled function
        torch._dynamo.reset()
        compiled = torch.compile(lambda x, y: torch.relu(x + y), backend=backend(passes, rest=rest))
        torch.testing.assert_close(torch.vmap(compiled)(x, y), torch.relu(x + y))

torch._dynamo.reset()
used = backend(passes)
with torch.no_grad():
    torch.compile(uncast, backend=used)(x, y)
assert counts(used.explain()) == [1]


# gradients that are asked for within the graph; a backward pass that compiled autograd captures
def enabling(x, y):
    with torch.enable_grad():
        return torch.relu(model.first(x) + y)


torch._dynamo.reset()
used = backend(passes)
with torch.no_grad():
    assert torch.compile(enabling, backend=used)(x, y).requires_grad
assert "captured for training" in used.explain().graphs[0].left_alone
torch._dynamo.reset()
used = backend(passes)
with torch._dynamo.compiled_autograd._enable(torch.compile(backend=used)):
    model.zero_grad()
    model(x, y).sum().backward()
assert used.explain().graphs and not any(counts(used.explain())), used.explain()
assert "compiled autograd" in str(used.explain()), used.explain()
"""

OTHER_TENSORS = """
import torch.distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor

torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
passes, (x, y) = folder("passes"), two()
mesh, plain = init_device_mesh("cpu", (1,)), lambda x, y: torch.relu(x + y)
jagged = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(2, 8)], layout=torch.jagged)
GIVEN = {
    "sparse": (x.to_sparse(), y.to_sparse()),
    "NestedTensor": (jagged, jagged * 2),
    "DTensor": tuple(distribute_tensor(each, mesh, [Shard(0)]) for each in (x, y)),
}


def dense(value):
    if value.layout is torch.jagged:
        return value.values()
    return value.full_tensor() if hasattr(value, "full_tensor") else value.to_dense()


for rest in ("eager", "inductor"):
    for name, inputs in GIVEN.items():
        torch._dynamo.reset()
        used = backend(passes, rest=rest)
        with torch.no_grad():
            wanted, found = plain(*inputs), torch.compile(plain, backend=used)(*inputs)
        assert type(found) is type(wanted) and found.layout is wanted.layout
        torch.testing.assert_close(dense(found), dense(wanted))
        graphs = used.explain().graphs
        # Dynamo captures nothing of sparse tensors
        assert not any(counts(used.explain())) and bool(graphs) == (name != "sparse"), used.explain()
        assert all(f"{name}, a subclass" in each.left_alone for each in graphs), used.explain()
    # parameters in shards are put together before a module computes with them
    torch._dynamo.reset()
    model, used = Plain(), backend(passes, rest=rest)
    with torch.no_grad():
        wanted = model(x, y)
        found = torch.compile(fully_shard(model), backend=used)(x, y)
    torch.testing.assert_close(found, wanted)
    assert counts(used.explain()) == [2], used.explain()
torch.distributed.destroy_process_group()
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
assert "Nothing here says on what bundle" in said

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
one = folder("one", BODY + "from names import NUMBER as MORE\\n", names="NUMBER = 1.0\\n")
two_ = folder("two", BODY + "from pass_dir.names import NUMBER as MORE\\n", names="NUMBER = 2.0\\n")
paths = list(sys.path)
made = [backend(each, verify="never") for each in (one, two_)]
x, y = two()
for number, each in enumerate(made, 1):
    torch._dynamo.reset()
    found = torch.compile(lambda x, y: torch.relu(x + y), backend=each)
    with torch.no_grad():
        torch.testing.assert_close(found(x, y), torch.relu(x + y) + number)
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
        pytest.param(DIFFERENT, id="different", marks=LINKED),
        pytest.param(DOMAINS, id="domains"),
        pytest.param(LEFT_ALONE, id="left alone", marks=LINKED),
        pytest.param(OTHER_TENSORS, id="other tensors", marks=LINKED),
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
        import torch._dynamo, torch._inductor.compile_fx
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


OTHER_MODELS = """
from torch.nn import functional as F
from passnet_core.settings import BUNDLED_DATA

R = torch.randn


def swiglu(gate, up):
    return F.silu(gate) * up


def gelu(x):
    return x * torch.sigmoid(1.702 * x)


def rms_norm(x, weight):
    wide = x.to(torch.float32)
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(dtype=x.dtype)


def layer_norm(x, residual, weight, bias):
    return F.layer_norm(F.dropout(x, 0.1, False, False) + residual, (12,), weight, bias, 1e-5)


def softmax(scores, mask):
    return F.dropout(F.softmax(scores * 0.125 + mask, dim=-1), 0.1, False)


def rotary(x, cos, sin):
    return x * cos + torch.cat((-x[..., 6:], x[..., :6]), dim=-1) * sin


x, half = R(2, 3, 12), R(2, 3, 12).half()
USES = [
    # the bundle, whether its pass is used, the function, its inputs
    ("gating-swiglu", True, swiglu, (R(2, 5, 12), R(2, 5, 12))),
    ("gating-swiglu", True, lambda gate, up: swiglu(gate.mT, up.mT).mT.view(-1), (x, R(2, 3, 12))),
    ("gating-swiglu", False, swiglu, (R(12), R(2, 5, 12))),
    ("gating-swiglu", False, swiglu, (R(3, 12), R(3, 12))),
    ("gating-swiglu", False, swiglu, (R(2, 5, 12), R(2, 1, 12))),
    ("gating-swiglu", False, swiglu, (half, R(2, 3, 12))),
    ("gating-swiglu", False, swiglu, (x.double(), R(2, 3, 12).double())),
    ("gating-swiglu", False, swiglu, (R(0, 12), R(0, 12))),
    ("gating-swiglu", False, lambda gate: swiglu(gate, 2.0), (x,)),
    ("pointwise-quick-gelu", False, gelu, (torch.arange(24),)),
    ("normalisation-rmsnorm", True, rms_norm, (half, R(12).half())),
    ("normalisation-rmsnorm", False, rms_norm, (half, R(12))),
    ("normalisation-rmsnorm", False, rms_norm, (half, R(1).half())),
    ("normalisation-rmsnorm", False, rms_norm, (half, R(3, 1).half())),
    ("several-outputs-layernorm", True, layer_norm, (x, R(2, 3, 12), R(12), R(12))),
    ("several-outputs-layernorm", False, layer_norm, (x, R(2, 3, 12), None, None)),
    ("routed-softmax", True, softmax, (R(2, 3, 5, 12), R(2, 1, 5, 12))),
    ("routed-softmax", False, softmax, (R(5, 12), R(2, 3, 5, 12))),
    ("layout-rotary", True, rotary, (R(2, 3, 5, 12), R(1, 1, 5, 12), R(1, 1, 5, 12))),
    ("layout-rotary", False, rotary, (R(2, 3, 5, 12), R(12), R(12))),
    ("layout-rotary", False, rotary, (R(2, 3, 5, 12).half(), R(5, 12), R(5, 12))),
]
for name, fits, function, inputs in USES:
    torch._dynamo.reset()
    used = backend(BUNDLED_DATA / "bundles" / name)
    compiled = torch.compile(function, backend=used)
    wanted = function(*inputs)
    for turn in range(3):
        found = compiled(*inputs)
        assert (found.dtype, found.shape, found.stride()) == (wanted.dtype, wanted.shape, wanted.stride()), name
        torch.testing.assert_close(found, wanted, msg=lambda text: f"{name}: {text}")
    assert counts(used.explain()) == [int(fits)], (name, str(used.explain()))
"""


def test_a_bundled_pass_in_a_model_for_which_it_was_not_judged_changes_nothing(tmp_path: Path) -> None:
    run_interpreted(OTHER_MODELS, tmp_path, head=HEAD)
