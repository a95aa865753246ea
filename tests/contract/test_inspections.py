"""What eager and TorchInductor make of a subgraph, by the real judge: shapes, dtypes, generated code, and sentences."""

import re
import shutil
import threading
from dataclasses import replace

import pytest

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends import local
from passnet_core.execution.backends.base import CompileKernels, InspectSubgraph, TracePrograms
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.inspections import KEPT, Inspections
from passnet_core.execution.scheduler import NOBODY, Scheduler
from passnet_core.graphs import aligning
from passnet_core.judge.worker import inspecting
from passnet_core.records import (
    Baseline,
    Bundle,
    Device,
    InductorCode,
    Inspection,
    PassKernels,
    Stage,
    Subgraph,
    TensorForm,
    TensorSpec,
    TracedLaunch,
    TracedProgram,
    Verdict,
    to_json,
)
from tests.contract.judging import ADD_RELU, RIGHT, bundle, hostile_in_call, job, judged, subgraph
from tests.fake_backend import FakeBackend, uncompiled, uninspected, untraced
from tests.waiting import eventually, seconds, short

pytestmark = pytest.mark.long

NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler for Inductor")
HEAD = "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, in_0, in_1):\n"


def source(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


def inspected(backend: LocalBackend, asked: Subgraph, *, with_code: bool = False) -> Inspection:
    return backend.inspect(InspectSubgraph(asked, Device.CPU, with_code), threading.Event())


def values(found: Inspection) -> dict[str, tuple[TensorForm, ...]]:
    return {each.node: each.tensors for each in found.values}


@NEEDS_COMPILER
def test_an_inspection_has_the_shapes_of_nodes_and_the_code_of_each_baseline(backend: LocalBackend) -> None:
    asked = subgraph((4, 33), "float16")
    codes = {}
    for baseline in Baseline:
        found = backend.inspect(InspectSubgraph(asked, Device.CPU, True, baseline), threading.Event())
        form = (TensorForm((4, 33), "float16"),)
        assert values(found) == dict.fromkeys(("in_0", "in_1", "tmp_0", "tmp_1"), form)
        assert (found.values_problem, found.code_problem) == ("", "")
        assert found.code is not None
        assert (found.code.launches, found.code.library_calls) == (1, 0)
        assert "cpp_fused_add_relu" in found.code.text
        assert str(backend.home) not in found.code.text
        assert found.subgraph_digest == asked.digest
        assert found.baseline is baseline
        assert found.environment == backend.info().environment or backend.info().device is Device.CUDA
        assert found.accelerator is None
        codes[baseline] = found.code.text
    rounded = {baseline: code.count("convert<at::Half") for baseline, code in codes.items()}
    assert rounded[Baseline.EAGER_ROUNDING] > rounded[Baseline.INDUCTOR], "the sum is rounded before relu"
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


def test_shapes_of_tuples_are_known_and_those_that_depend_on_content_are_not(backend: LocalBackend) -> None:
    code = source(
        "tmp_0 = in_0.chunk(3, dim=-1)",
        "tmp_1 = tmp_0[0]",
        "tmp_2 = in_1.shape",
        "tmp_3 = tmp_2[1]",
        "tmp_4 = tmp_1.new_zeros(tmp_3, 2)",
        "tmp_5 = torch.nonzero(in_0)",
        "tmp_6 = tmp_5 + 1",
        "tmp_7 = in_1.to(torch.float64, copy=True)",
        "return (tmp_4, tmp_6, tmp_7)",
    )
    found = inspected(backend, subgraph((11, 33), code=code))
    third = TensorForm((11, 11), "float32")
    known = values(found)
    assert known["tmp_0"] == (third, third, third)
    assert known["tmp_1"] == (third,)
    assert known["tmp_4"] == (TensorForm((33, 2), "float32"),)
    assert "tmp_3" not in known
    assert known["tmp_7"] == (TensorForm((11, 33), "float64"),)
    assert not {"tmp_5", "tmp_6"} & set(known)
    assert found.values_problem == (
        "2 of 10 values are not known, the first at tmp_5 (torch.nonzero):"
        " its shape depends on the content of its inputs."
    )
    assert (found.code, found.code_problem) == (None, ""), "no code was asked for"


def test_an_inspection_allocates_no_tensors(backend: LocalBackend) -> None:
    found = inspected(backend, subgraph((1 << 20, 1 << 20)))
    assert values(found)["tmp_1"] == (TensorForm((1 << 20, 1 << 20), "float32"),)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("what is this", "cannot be read"),
        ("(" * 5000, "cannot be read"),
        (source("while True: pass"), "cannot be read"),
        (source("import os", "os.system('touch /tmp/x')", "return (in_0,)"), "cannot be read"),
        (source("tmp_0 = torch.load('x')", "return (tmp_0,)"), "torch.load"),
        (source("tmp_0 = in_0.numpy()", "return (tmp_0,)"), "numpy"),
        (source("tmp_0 = in_0.__reduce__()", "return (tmp_0,)"), "__reduce__"),
        (ADD_RELU.replace("in_1", "other"), "metadata"),
        ("\x00", "cannot be read"),
    ],
)
def test_source_that_is_no_subgraph_is_refused_in_a_sentence(backend: LocalBackend, code: str, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        inspected(backend, subgraph(code=code), with_code=True)


def test_a_dtype_that_does_not_exist_is_refused(backend: LocalBackend) -> None:
    inputs = tuple(TensorSpec(name, (4,), "float12") for name in ("in_0", "in_1"))
    with pytest.raises(BadInput, match="float12"):
        inspected(backend, replace(subgraph(), inputs=inputs))


def test_a_witness_that_does_not_answer_is_reported(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "INSPECTION_LIMIT_S", 0.001)
    with pytest.raises(InfrastructureError, match="did not find the shapes in the subgraph within 0 s"):
        inspected(backend, subgraph())
    monkeypatch.undo()
    assert len(inspected(backend, subgraph()).values) == 4


def test_a_cancelled_inspection_never_starts(backend: LocalBackend) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(InfrastructureError, match="cancelled"):
        backend.inspect(InspectSubgraph(subgraph(), Device.CPU), cancelled)


def test_without_a_compiler_a_sentence_asks_for_one() -> None:
    import torch._inductor.config

    form = TensorForm((4, 33), "float32")
    with torch._inductor.config.patch({"cpp.cxx": (None, "no-such-compiler")}):
        found = inspecting.generated(ADD_RELU, [form, form], Device.CPU, Baseline.INDUCTOR)
    assert found == "TorchInductor needs a C++ compiler on a CPU, and there is none. Install g++."


@NEEDS_COMPILER
def test_a_subgraph_that_inductor_cannot_compile_gets_one_line() -> None:
    form = TensorForm((4, 33), "float32")
    code = source("tmp_0 = in_0 @ in_1", "return (tmp_0,)")
    found = inspecting.generated(code, [form, form], Device.CPU, Baseline.EAGER_ROUNDING)
    assert isinstance(found, str)
    assert found.startswith("TorchInductor with eager's rounding, torch ")
    assert "does not compile this subgraph" in found
    assert "\n" not in found


def test_kernel_launches_and_library_calls_are_counted_in_inductors_code() -> None:
    code = '''
triton_poi_0 = async_compile.triton("triton_poi_0", """
def triton_poi_0(x): triton_poi_0.run(x)
""", device_str="cuda")
cpp_fused_1 = async_compile.cpp_pybinding(["float*"], "x")
class Runner:
    def call(self, args):
        triton_poi_0.run(buf0, 8, stream=raw_stream0)
        buf1 = extern_kernels.convolution(buf0)
        triton_poi_0.run(buf1, 8, stream=raw_stream0)
        cpp_fused_1(buf1)
        buf2 = torch.ops.aten.sort.stable(buf1)
        return (reinterpret_tensor(buf2),)
def benchmark_compiled_module(times=10):
    return triton_poi_0.run(1)
'''
    assert inspecting.launched(code) == (3, 2)


# --- remembered inspections ---


def numbered(number: int) -> Subgraph:
    return replace(subgraph(), id=f"float32/{number}", code=ADD_RELU + f"# {number}\n")


def test_a_remembered_inspection_is_not_made_again() -> None:
    fake = FakeBackend(lambda job: None)  # type: ignore[arg-type,return-value]
    known = Inspections(Scheduler(fake))
    never = threading.Event()
    assert set(known.within([numbered(0), numbered(1)], Device.CPU, seconds(60), never)) == {"float32/0", "float32/1"}
    assert known.of(numbered(0), Device.CPU, with_code=False).subgraph_digest == numbered(0).digest
    for _ in range(2):
        known.of(numbered(0), Device.CPU)
    known.within([numbered(0)], Device.CPU, seconds(60), never)
    assert fake.inspected == [(numbered(0), False), (numbered(1), False), (numbered(0), True)]
    for number in range(KEPT + 1):
        known.of(numbered(number), Device.CPU)
    before = len(fake.inspected)
    known.of(numbered(0), Device.CPU)
    assert len(fake.inspected) == before + 1, "the oldest inspection is forgotten"
    known.close()


def test_the_two_baselines_code_of_a_subgraph_is_remembered_apart() -> None:
    def inspection(asked: Subgraph) -> Inspection:
        code = InductorCode(f"# inspection {len(fake.inspected)}", 1, 0)
        return replace(uninspected(asked), code=code, code_problem="")

    def text(baseline: Baseline) -> str:
        found = known.of(numbered(0), Device.CPU, baseline=baseline)
        assert found.baseline is baseline
        assert found.code is not None
        return found.code.text

    fake = FakeBackend(lambda job: None, inspection=inspection)  # type: ignore[arg-type,return-value]
    known = Inspections(Scheduler(fake))
    assert [text(each) for each in (*Baseline, *Baseline)] == ["# inspection 1", "# inspection 2"] * 2
    assert known.known(numbered(0), Device.CPU, baseline=Baseline.EAGER_ROUNDING) == known.of(
        numbered(0), Device.CPU, baseline=Baseline.EAGER_ROUNDING
    )
    known.of(numbered(0), Device.CPU, with_code=False)
    assert len(fake.inspected) == 2, "shapes are the same for both"
    known.close()


def test_a_failed_inspection_is_made_again_and_a_waiting_caller_can_leave() -> None:
    going_on = threading.Event()
    answers = iter([BadInput("not this one"), ZeroDivisionError()])

    def inspection(asked: Subgraph) -> Inspection:
        if (error := next(answers, None)) is not None:
            raise error
        assert going_on.wait(seconds(60))
        return uninspected(asked)

    fake = FakeBackend(lambda job: None, inspection=inspection)  # type: ignore[arg-type,return-value]
    known, left = Inspections(Scheduler(fake)), threading.Event()
    with pytest.raises(BadInput, match="not this one"):
        known.of(numbered(0), Device.CPU)
    with pytest.raises(InfrastructureError, match="ZeroDivisionError"):
        known.of(numbered(0), Device.CPU)
    assert known.within([numbered(0)], Device.CPU, 0.05, left) == {}
    left.set()
    with pytest.raises(InfrastructureError, match="Ask for it again"):
        known.of(numbered(0), Device.CPU, cancelled=left)
    going_on.set()
    assert known.of(numbered(0), Device.CPU).code_problem
    known.close()


def test_a_caller_that_does_not_wait_gets_the_result_or_the_failure_later() -> None:
    going_on = threading.Event()

    def inspection(asked: Subgraph) -> Inspection:
        assert going_on.wait(seconds(60))
        if asked == numbered(1):
            raise BadInput("not this one")
        return uninspected(asked)

    def settled(number: int) -> Inspection:
        return eventually(lambda: known.known(numbered(number), Device.CPU))

    fake = FakeBackend(lambda job: None, inspection=inspection)  # type: ignore[arg-type,return-value]
    known = Inspections(Scheduler(fake))
    assert known.known(numbered(0), Device.CPU) is None
    assert known.known(numbered(1), Device.CPU) is None
    going_on.set()
    assert settled(0).subgraph_digest == numbered(0).digest
    with pytest.raises(BadInput, match="not this one"):
        settled(1)
    with pytest.raises(BadInput, match="not this one"):
        settled(1)
    assert fake.inspected.count((numbered(1), True)) == 2, "each failure is reported once, then it is made again"
    known.close()


# --- kernels that Triton compiles ---


def kernels(backend: LocalBackend, code: str, asked: Subgraph | None = None) -> PassKernels:
    question = CompileKernels(asked or subgraph((4, 33), "float16"), bundle(code), Device.CPU)
    return backend.inspect(question, threading.Event())


def test_without_a_gpu_kernels_are_compiled_for_a_recorded_one(backend: LocalBackend) -> None:
    asked = subgraph((1 << 12, 1 << 12), "float16")
    found = kernels(backend, RIGHT, asked)
    assert found.problem == ""
    assert (found.subgraph_digest, found.bundle_digest) == (asked.digest, bundle(RIGHT).digest)
    (kernel,) = found.kernels
    assert (kernel.name, kernel.target, kernel.ran, kernel.problem) == ("add_relu_kernel", "9.0", False, "")
    assert (kernel.launches, kernel.num_warps, kernel.registers) == (1, 4, None), "recorded sizes; it does not run"
    assert "tt.func public @add_relu_kernel" in kernel.ttir
    assert "!tt.ptr<f16> {tt.divisibility = 16 : i32}" in kernel.ttir
    assert "ttg.num-warps" in kernel.ttgir
    assert ".entry add_relu_kernel" in kernel.ptx
    assert ".target sm_90" in kernel.ptx
    assert str(backend.home) not in kernel.ttir + kernel.ttgir + kernel.ptx
    assert "/bundle-" not in kernel.ttir + kernel.ptx
    assert aligning.of_triton_ir(kernel.ttir, {"pass_0.py"})
    assert aligning.of_ptx(kernel.ptx, {"pass_0.py"})
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import subprocess\n" + RIGHT, "A rule rejects the passes"),
        (RIGHT.replace("nn.functional.relu", "sigmoid"), "No pass matches this subgraph"),
        (f"raise ValueError\n{RIGHT}", "failed before their kernels were compiled: ValueError"),
        (hostile_in_call("raise ValueError('<b>no</b>')"), "failed before their kernels were compiled: .*<b>no</b>"),
        (hostile_in_call("return torch.empty_like(a)"), "launch no Triton kernel here"),
    ],
)
def test_a_sentence_says_why_no_kernel_was_compiled(backend: LocalBackend, code: str, said: str) -> None:
    code = code.replace("import ctypes, os, signal, sys, time\n", "")
    found = kernels(backend, code)
    assert found.kernels == ()
    assert re.search(said, found.problem), found.problem


def test_a_kernel_that_does_not_compile_has_a_problem(backend: LocalBackend) -> None:
    code = RIGHT.replace("tl.where(total > 0, total, 0.0)", "tl.no_such_thing(total)")
    (kernel,) = kernels(backend, code).kernels
    assert kernel.problem.startswith("It does not compile: ")
    assert "no_such_thing" in kernel.problem
    assert kernel.ptx == ""


def test_a_pass_that_never_ends_is_killed_and_jobs_go_on(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_s = short(3)
    monkeypatch.setattr(local, "COMPILING_LIMIT_S", limit_s)
    endless = hostile_in_call("while True: pass").replace("import ctypes, os, signal, sys, time\n", "")
    with pytest.raises(InfrastructureError, match=f"did not compile the kernels within {limit_s:.0f} s"):
        kernels(backend, endless)
    assert judged(backend, job(RIGHT, Stage.CHECK)).verdict is Verdict.MATCHED


def test_the_candidates_description_of_a_kernel_is_cut_to_safe_values() -> None:
    from passnet_core.judge.supervisor.worker_process import _compiled

    told = {"name": "<b>" * 999, "target": 1, "ran": "yes", "launches": -1, "num_warps": 1e9, "ptx": "x" * 10**6}
    kernel = _compiled(told)
    assert (len(kernel.name), kernel.target, kernel.ran) == (200, "1", False)
    assert (kernel.launches, kernel.num_warps) == (0, None)
    assert len(kernel.ptx) < 200_000


def test_the_kernels_of_a_bundle_are_compiled_once() -> None:
    answers = iter([InfrastructureError("not now")])

    def compiled(asked: Subgraph, passes: Bundle) -> PassKernels:
        if (error := next(answers, None)) is not None:
            raise error
        return uncompiled(asked, passes)

    def settled(passes: Bundle) -> PassKernels:
        return eventually(lambda: known.kernels(subgraph(), passes, Device.CPU, NOBODY))

    fake = FakeBackend(lambda job: None, compiling=compiled)  # type: ignore[arg-type,return-value]
    known = Inspections(Scheduler(fake))
    with pytest.raises(InfrastructureError, match="not now"):
        settled(bundle(RIGHT))
    assert settled(bundle(RIGHT)).problem == settled(bundle(RIGHT)).problem
    settled(bundle(RIGHT + "# other"))
    assert len(fake.compiled) == 3, "again after a failure, and once for another bundle"
    known.close()


# --- what the programs of kernels access ---

STRAYING = RIGHT.replace("    total =", "    past = tl.load(b_ptr + offsets + 200)\n    total =")
"""The right pass with a load that no mask restrains, beyond the end of the tensor in the last program."""


def test_the_accesses_of_the_programs_are_traced(backend: LocalBackend) -> None:
    asked = subgraph((4, 99), "bfloat16")
    found = backend.inspect(TracePrograms(asked, bundle(STRAYING)), threading.Event())
    assert (found.problem, found.left_out) == ("", 0)
    assert (found.subgraph_digest, found.bundle_digest) == (asked.digest, bundle(STRAYING).digest)
    (launch,) = found.launches
    assert (launch.kernel, launch.grid, launch.ran) == ("add_relu_kernel", (2, 1, 1), 2)
    assert launch.constants == (("count", "396"), ("BLOCK", "256"))
    assert [(each.name, each.source) for each in launch.tensors] == [
        ("a_ptr", "in_0"),
        ("b_ptr", "in_1"),
        ("out_ptr", ""),
    ]
    assert {(each.shape, each.strides, each.dtype) for each in launch.tensors} == {((4, 99), (99, 1), "bfloat16")}
    last = launch.programs[-1]
    assert [(each.kind, each.tensor, each.shape) for each in last.accesses] == [
        ("load", "b_ptr", (256,)),
        ("load", "a_ptr", (256,)),
        ("load", "b_ptr", (256,)),
        ("store", "out_ptr", (256,)),
    ]
    past, a, b, out = last.accesses
    code = STRAYING.splitlines()
    assert [code[each.line - 1].split()[0] for each in (past, a, b, out)] == [
        "past",
        "total",
        "total",
        "tl.store(out_ptr",
    ]
    assert past.file == "pass_0.py"
    assert past.elements == (-1,) * 256
    assert past.touched == past.elements, "no mask restrains it"
    for each in (a, b, out):
        assert each.elements == (*range(256, 396), *[-1] * 116)
        assert each.masked == (*[False] * 140, *[True] * 116)
    sums = [float(x) + float(y) for x, y in zip(a.values[:140], b.values[:140])]
    assert [float(each) for each in out.values[:140]] == pytest.approx([max(each, 0.0) for each in sums], rel=0.01)
    assert len(set(a.values[:140])) > 70, "the inputs as they were drawn"
    assert set(a.values[140:]) == {"?"}


def test_a_trace_of_what_a_rule_rejects_says_so(backend: LocalBackend) -> None:
    found = backend.inspect(TracePrograms(subgraph(), bundle("import subprocess\n" + RIGHT)), threading.Event())
    assert found.launches == ()
    assert "A rule rejects the passes" in found.problem


def test_a_trace_that_holds_more_than_it_may_is_refused() -> None:
    from passnet_core.judge.supervisor.worker_process import NONSENSE, _traced_launch

    fits = to_json(TracedLaunch("k", (64, 1, 1), (), (), (TracedProgram((0, 0, 0), ()),), 64))
    assert _traced_launch(fits).kernel == "k"
    rubbish: tuple[object, ...] = (
        fits | {"programs": fits["programs"] * 33},
        fits | {"kernel": "k" * 1000},
        fits | {"constants": [["BLOCK", "1"]] * 65},
        fits | {"grid": [10**30, 1, 1]},
        fits | {"programs": None},
        ["k"],
        {},
    )
    for told in rubbish:
        with pytest.raises(NONSENSE):
            _traced_launch(told)


def test_a_trace_is_made_once_apart_from_the_code_of_its_kernels() -> None:
    fake = FakeBackend(lambda job: None)  # type: ignore[arg-type,return-value]
    known = Inspections(Scheduler(fake))
    passes = bundle(RIGHT)
    found = eventually(lambda: known.programs(subgraph(), passes, NOBODY))
    assert found == known.programs(subgraph(), passes, NOBODY) == untraced(subgraph(), passes)
    assert (len(fake.traced), len(fake.compiled)) == (1, 0)
    known.close()
