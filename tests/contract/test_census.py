"""The kernel census: own kernels are accepted; library kernels are named, with the line that launched them."""

from dataclasses import replace

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.graphs.source import parse
from passnet_core.judge.protocol.messages import Launches, Seen
from passnet_core.judge.stages import census
from passnet_core.records import LAUNCHED, Capture, Job, Outcome, PassFile, Profile, Stage, Verdict
from tests.contract.judging import KERNEL, PATTERN, RIGHT, bundle, job, judged, subgraph

pytestmark = pytest.mark.settled

OWN = RIGHT.replace(
    "@torch.fx.wrap\ndef add_relu",
    """
@triton.jit
def never_launched(a_ptr):
    tl.store(a_ptr, helper_of_kernels(0.0))


@triton.jit
def helper_of_kernels(x):
    return x


@torch.fx.wrap
def add_relu""",
)


def replacing(*lines: str, top: str = "", pattern: str = PATTERN, arguments: str = "a, b") -> str:
    """A pass whose replacement has these lines and may launch add_relu_kernel."""
    kernel = KERNEL.replace("RESULT", "tl.where(total > 0, total, 0.0)").split("@torch.fx.wrap")[0]
    body = "\n    ".join(lines)
    return (
        f"{pattern}\n{top}\n{kernel}\ndef own(a, b):\n    out = torch.empty_like(a)\n    count = a.numel()\n"
        "    add_relu_kernel[(triton.cdiv(count, 256),)](a, b, out, count, BLOCK=256)\n    return out\n\n\n"
        f"@torch.fx.wrap\ndef fused({arguments}):\n    {body}\n\n\ndef replacement_func():\n    return fused\n"
    )


def launched(outcome: Outcome) -> str:
    (found,) = [each.text for each in outcome.evidence if each.topic == LAUNCHED]
    return found


def test_the_bundles_kernels_are_own_kernels_and_unused_ones_are_named(backend: LocalBackend) -> None:
    outcome = judged(backend, job(OWN))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "1 × add_relu_kernel (kernel, the replacement of pass_0 at pass_0.py:" in launched(outcome)
    assert "aten::empty_like" in launched(outcome)
    assert "library" not in launched(outcome)
    assert "copy_" not in launched(outcome)
    assert "Kernels defined but not launched here: never_launched (pass_0.py)." in outcome.warnings


def test_the_passnet_profile_makes_no_census(backend: LocalBackend) -> None:
    outcome = judged(backend, job(replacing("return own(a, b)"), profile=Profile.PASSNET))
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert not [each for each in outcome.evidence if each.topic == LAUNCHED]


HONEST = {
    "views and a copy": ["a, b = a.transpose(0, 1).contiguous(), b.clone().t().contiguous()",
                         "return own(a, b).view(a.shape).t()[:, :].contiguous()"],
    "allocations and fills": ["spare = torch.zeros_like(a).fill_(2); torch.full((2,), 1.0); a.new_empty(3).zero_()",
                              "torch.as_tensor([1, 2]); torch.ones(2, dtype=torch.float16)", "return own(a, b)"],
    "questions": ["assert a.is_contiguous() and a.stride(-1) == 1 and a.data_ptr() % 4 == 0 and a.dim() == 2",
                  "return own(a, b)"],
    "one number": ["scale = torch.as_tensor([2.0])", "assert scale.item() == 2", "return own(a, b)"],
    "scratch memory": ["space = torch.empty(4 * a.numel(), dtype=torch.uint8)",
                       "space.view(torch.float32).zero_(); space.zero_(); space.view(torch.int16)",
                       "torch.zeros(8, dtype=torch.float16).clone().view(torch.int32)", "return own(a, b)"],
    "kernels measured": ["triton.testing.do_bench(lambda: own(a, b.contiguous()))", "return own(a, b)"],
    "an update of a copy": ["out = b.clone()", "add_relu_kernel[(1,)](a, out, out, a.numel(), BLOCK=256)",
                            "return out"],
    "grid by function": ["out = torch.empty_like(a)",
                         "add_relu_kernel[lambda named: (triton.cdiv(a.numel(), named['BLOCK']),)]"
                         "(a, b, out, a.numel(), BLOCK=64)", "return out"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ("aligned = a.data_ptr() % 16 == 0", False),
        ("aligned = [each.data_ptr() % 64 for each in (a, b)]", False),
        ("where = getattr(a, 'data_' + 'ptr')()", True),
    ],
)
def test_reading_addresses_is_a_warning_and_asking_for_alignment_is_none(
    backend: LocalBackend, line: str, warned: bool
) -> None:
    outcome = judged(backend, job(replacing(line, "return own(a, b)")))
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert any("reads tensor addresses" in warning for warning in outcome.warnings) == warned


LIBRARY = {
    "operators": (["return (a + b).clamp(min=0)"], "aten::add.Tensor"),
    "after a decoy": (["own(a, b)", "out = a.clone()", "out += b", "return out.clamp(min=0)"], "aten::add_.Tensor"),
    "part of it": (["out = own(a, b)", "return out * 1"], "aten::mul.Tensor"),
    "in the grid": (["out = torch.empty_like(a)", "c = []",
                     "add_relu_kernel[lambda named: c.append((a + b).clamp(min=0)) or (1,)](a, b, out, 0, BLOCK=16)",
                     "return c[0]"], "aten::add.Tensor"),
    "conversion": (["return own(a.double(), b.double()).float()"], "aten::_to_copy, which converts the dtype"),
    "conversion by a copy": (["wide = torch.empty(a.shape, dtype=torch.float64)", "wide.copy_(a)",
                              "return own(a, b)"], "aten::copy_, which converts the dtype"),
    "halves put together": (["wide = torch.zeros_like(a)", "half = a.view(torch.int16)[..., 1::2].contiguous()",
                             "wide.view(torch.int16)[..., 1::2].copy_(half)", "return own(a, b)"],
                            "aten::clone, which assembles elements from parts"),
    "halves put together later": (["pair = torch.zeros((4, 66), dtype=torch.int16)",
                                   "pair[:, 1::2].copy_(torch.zeros((4, 33), dtype=torch.int16))",
                                   "pair.view(torch.float32)", "return own(a, b)"],
                                  "aten::view.dtype, which assembles"),
    "halves cleared": (["cut = a.clone()", "cut.view(torch.int16)[..., ::2].zero_()", "return own(a, b)"],
                       "aten::zero_, which assembles"),
    "hidden methods": (["own(a, b)", "m = 'ad' + 'd'", "return getattr(getattr(a, m)(b), 'clamp')(min=0)"],
                       "aten::add.Tensor"),
}  # fmt: skip


READING = {
    "numpy": (["import numpy as np", "return torch.as_tensor(np.maximum(a.numpy() + b.numpy(), 0))"],
              "reads values from a tensor with numpy"),
    "numpy after a decoy": (["import numpy as np", "out = own(a, b)",
                             "return torch.as_tensor(np.maximum(np.asarray(a) + np.asarray(b), 0))"], "__array__"),
    "lists": (["own(a, b)", "rows = zip(a.tolist(), b.tolist())",
               "return torch.as_tensor([[max(x + y, 0) for x, y in zip(*each)] for each in rows])"], "tolist"),
    "one element after the other": (["out = own(a, b)", "out[0, 0] = max(float(a[0, 0]) + float(b[0, 0]), 0)",
                                     "return out"], "aten::_local_scalar_dense"),
    "each element": (["out = a.clone()", "getattr(out, 'ma' + 'p_')(b, lambda x, y: max(x + y, 0.0))", "return out"],
                     "map_"),
}  # fmt: skip


WIDTHS = {name: width for width, name in enumerate((*HONEST, *LIBRARY, *READING), 33)}
"""One bundle does all of this, so that its processes start once: what it does depends on the number of columns."""
BY_WIDTH = replacing(
    *(
        line
        for name, lines in (
            *HONEST.items(),
            *((name, lines) for name, (lines, _) in (*LIBRARY.items(), *READING.items())),
        )
        for line in (f"if a.shape[1] == {WIDTHS[name]}:", *(f"    {line}" for line in lines))
    )
)


def by_width(name: str) -> Job:
    return replace(job(BY_WIDTH), subgraph=subgraph((4, WIDTHS[name])))


@pytest.mark.parametrize("name", HONEST)
def test_honest_habits_are_accepted(backend: LocalBackend, name: str) -> None:
    outcome = judged(backend, by_width(name))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"


@pytest.mark.parametrize("name", LIBRARY)
def test_library_work_is_named_with_its_line(backend: LocalBackend, name: str) -> None:
    lines, said = LIBRARY[name]
    outcome = judged(backend, by_width(name))
    if outcome.verdict is Verdict.REJECTED:
        # the static rules reject this one already; here only the launched kernels matter
        pytest.fail(outcome.reason)
    assert outcome.verdict is Verdict.LIBRARY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert said in outcome.reason + launched(outcome), outcome.reason
    code = BY_WIDTH.splitlines()
    first = code.index(f"    if a.shape[1] == {WIDTHS[name]}:") + 2
    assert any(f"pass_0.py:{first + place}" in outcome.reason for place in range(len(lines))), outcome.reason
    assert not outcome.speedups


@pytest.mark.parametrize("name", READING)
def test_what_reads_tensors_has_no_plan(backend: LocalBackend, name: str) -> None:
    lines, said = READING[name]
    outcome = judged(backend, by_width(name))
    assert outcome.verdict is Verdict.REJECTED, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    (finding,) = [each for each in outcome.findings if each.fatal]
    assert finding.rule == "plan"
    assert "reads what a tensor holds" in finding.message
    first = BY_WIDTH.splitlines().index(f"    if a.shape[1] == {WIDTHS[name]}:") + 2
    assert finding.line in range(first, first + len(lines)), said


def test_constants_may_be_computed_while_a_bundle_is_loaded(backend: LocalBackend) -> None:
    code = replacing("return own(a, b)") + "\n\nTABLE = 2 ** torch.as_tensor([1.0, 2.0])\n"
    outcome = judged(backend, job(code))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"


COPYING = """
import torch
import triton
import triton.language as tl


def pattern(a):
    return torch.transpose(a, 0, 1).contiguous()


def replacement_args(a):
    return (a,)
"""
TRANSPOSED = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = torch.transpose(in_0, 0, 1)
        tmp_1 = tmp_0.contiguous()
        tmp_2 = tmp_1 + in_1
        return (tmp_2,)
"""


def on(code: str, text: str, shapes: tuple[tuple[int, ...], ...] = ((4, 33), (33, 4))) -> Job:
    asked = job(text)
    graph = subgraph(code=code)
    inputs = tuple(replace(each, shape=shape) for each, shape in zip(graph.inputs, shapes))
    return replace(asked, subgraph=replace(graph, code=code, inputs=inputs))


def test_copying_alone_is_library_work(backend: LocalBackend) -> None:
    code = replacing("return a.transpose(0, 1).contiguous()", pattern=COPYING, arguments="a")
    outcome = judged(backend, on(TRANSPOSED, code))
    assert outcome.verdict is Verdict.LIBRARY, f"{outcome.reason} {outcome.evidence}"
    assert "launches no kernel" in outcome.reason


IDLE = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = torch.nn.functional.dropout(in_0, 0.1, False, False)
        tmp_1 = tmp_0 + in_1
        return (tmp_1,)
"""


def test_the_rest_of_the_graph_is_not_the_replacements_and_without_kernels_nothing_is_shown(
    backend: LocalBackend,
) -> None:
    pattern = COPYING.replace(
        "torch.transpose(a, 0, 1).contiguous()", "torch.nn.functional.dropout(a, 0.1, False, False)"
    )
    outcome = judged(
        backend, on(IDLE, replacing("return a.view(a.shape)", pattern=pattern, arguments="a"), ((4, 33),) * 2)
    )
    assert outcome.verdict is Verdict.INCONCLUSIVE, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "no kernel of the bundle was launched" in outcome.reason
    assert "aten::add" not in launched(outcome)


OFF = "_disable" + "_current_modes"
LOOKING = """
def torch_of(module, parts=("sy" + "s", "modu" + "les")):
    import functools, os
    return (functools.reduce(lambda of, name: getattr(of, name), parts, os)["to" + "rch"])


def dispatching():
    return getattr(torch_of(triton).utils._python_dispatch, "_get_current_dispatch_mode_stack")()


def functions():
    return getattr(torch_of(triton).overrides, "_get_current_function_mode_stack")()
"""


HIDDEN = {
    "modes switched off": [
        "own(a, b)", f"with getattr(torch_of(triton).utils._python_dispatch, '_dis' + '{OFF[4:]}')():",
        "    return (a + b).clamp(min=0)",
    ],
    "another thread": [
        "outs = [own(a, b)]", "Thread = getattr(torch_of(triton), 'thread' + 'ing').Thread",
        "thread = Thread(target=lambda: outs.append((a + b).clamp(min=0)))", "thread.start(); thread.join()",
        "return outs[1]",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_what_nobody_records_is_in_no_plan(backend: LocalBackend, name: str) -> None:
    outcome = judged(backend, job(replacing(*HIDDEN[name], top=LOOKING)))
    assert outcome.verdict is Verdict.REJECTED, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "memory that it has from elsewhere" in outcome.reason


@pytest.mark.parametrize(
    "lines",
    [
        ["out = own(a, b)", "if len(dispatching()) or len(functions()) > 1: return out", "return (a + b).clamp(min=0)"],
        ["if not dispatching(): (a + b).clamp(min=0)", "return own(a, b)"],
        ["triton.testing.do_bench(lambda: (a + b).clamp(min=0))", "return own(a, b)"],
    ],
    ids=["modes looked for", "operators unless somebody looks", "operators measured"],
)
def test_what_a_function_would_do_in_another_call_is_never_done(backend: LocalBackend, lines: list[str]) -> None:
    outcome = judged(backend, job(replacing(*lines, top=LOOKING)))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "aten::add" not in launched(outcome)


def test_work_in_replacement_args_is_library_work(backend: LocalBackend) -> None:
    pattern = PATTERN.replace("return (a, b)", "return (torch.nn.functional.relu(a + b), b[:, :].reshape(-1))")
    outcome = judged(backend, job(replacing("return own(a, a.new_zeros(a.shape))", pattern=pattern)))
    assert outcome.verdict is Verdict.LIBRARY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "replacement_args computes add" in outcome.reason


def test_replacement_args_may_ask_for_sizes_and_calculate_with_them(backend: LocalBackend) -> None:
    pattern = PATTERN.replace("return (a, b)", "return (a.contiguous(), b.view(-1), a.shape[0] * a.size(1) // 2)")
    code = replacing("return own(a, b)", pattern=pattern, arguments="a, b, half")
    outcome = judged(backend, job(code))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"


def test_compiled_capture_is_counted_too(backend: LocalBackend) -> None:
    for code, verdict in ((RIGHT, Verdict.VALUES_ONLY), (replacing("return (a + b).clamp(min=0)"), Verdict.LIBRARY)):
        asked = job(code)
        outcome = judged(backend, replace(asked, spec=replace(asked.spec, capture=Capture.COMPILED)))
        assert outcome.verdict is verdict, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
        assert outcome.reason if verdict is Verdict.LIBRARY else "add_relu_kernel" in launched(outcome)


def test_what_counts_its_calls_is_a_cheat(backend: LocalBackend) -> None:
    lines = ["CALLS.append(1)", "out = own(a, b)", "return out if len(CALLS) % 2 else out.clone()"]
    outcome = judged(backend, job(replacing(*lines, top="CALLS = []")))
    assert outcome.verdict is Verdict.CHEAT, f"{outcome.reason} {outcome.evidence}"
    assert "does something else when it is called again" in outcome.reason


# --- the referee's conclusions, without processes --------------------------------------------------------------------

GRAPH = parse(TRANSPOSED)
KEYS = {"replacement_0": "the replacement of pass_0"}


def concluded(*seen: Seen, fresh: int = 1) -> census.Census:
    recorded = [Launches("replacement_0", 1, fresh, seen)]
    return census.judged(bundle(RIGHT), [recorded], GRAPH, GRAPH, KEYS)


def launch(name: str = "add_relu_kernel", count: int = 1) -> Seen:
    return Seen("kernel", name, "pass_0.py:30", "", count)


def test_a_triton_kernel_from_elsewhere_is_a_library_kernel() -> None:
    found = concluded(launch("_flash_attention"))
    assert found.verdict is Verdict.LIBRARY
    assert "not in the bundle" in found.reason


def test_a_different_number_of_launches_in_another_call_is_a_warning() -> None:
    calls = [[Launches("replacement_0", 1, 1, (launch(count=count),))] for count in (2, 1, 2)]
    even = census.judged(bundle(RIGHT), calls[::2], GRAPH, GRAPH, KEYS).warnings
    assert not any("in another" in each for each in even)
    uneven = census.judged(bundle(RIGHT), calls, GRAPH, GRAPH, KEYS).warnings
    assert "The replacements launched 1 kernels in one call and 2 in another." in uneven


def test_one_call_that_a_library_computes_is_enough() -> None:
    added = Seen("operation", "aten::add.Tensor", "pass_0.py:3", "", 1)
    calls = [[Launches("replacement_0", 1, 1, (launch(), *more))] for more in ((), (added,), ())]
    found = census.judged(bundle(RIGHT), calls, GRAPH, GRAPH, KEYS)
    assert found.verdict is Verdict.LIBRARY
    assert "aten::add.Tensor at pass_0.py:3" in found.reason


def test_a_result_that_no_recorded_launch_explains_is_library_work() -> None:
    allocated = Seen("operation", "aten::empty_like", "pass_0.py:3", "", 1)
    found = concluded(allocated)
    assert found.verdict is Verdict.LIBRARY
    assert "nothing that was recorded computes" in found.reason
    filled = Seen("operation", "aten::zeros_like", "pass_0.py:3", "", 1)
    assert concluded(filled, launch()).verdict is Verdict.VALUES_ONLY
    assert concluded(launch(), fresh=0).verdict is Verdict.VALUES_ONLY


def test_a_bundle_that_launches_no_kernel_shows_nothing() -> None:
    filled = Seen("operation", "aten::zeros_like", "pass_0.py:3", "", 1)
    for found in (concluded(filled), concluded(fresh=0)):
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "no kernel of the bundle was launched" in found.reason


def test_kernels_are_found_however_they_are_made() -> None:
    code = """
import triton
from triton import jit, autotune

@autotune(configs=[], key=[])
@triton.heuristics({})
@jit
def first(x): second(x)

@triton.jit
def second(x): pass

def make():
    @triton.jit(do_not_specialize=["x"])
    def third(x): pass
    return third

def fourth(x): pass
kernel = triton.jit(fourth)
"""
    made = bundle(RIGHT, helpers=(PassFile("kernels.py", code),))
    assert set(census.kernels_of(made)) == {"add_relu_kernel", "first", "second", "third", "fourth"}
    assert set(census.launchable(made)) == {"add_relu_kernel", "first", "third", "fourth"}


def test_the_verdict_library_is_not_accepted(backend: LocalBackend) -> None:
    outcome = judged(backend, job(replacing("return (a + b).clamp(min=0)"), Stage.MEASURE))
    assert outcome.verdict is Verdict.LIBRARY
    assert not outcome.verdict.accepted
