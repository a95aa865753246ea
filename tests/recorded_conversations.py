"""python -m tests.recorded_conversations writes the examples in data/conversations anew.

No model is asked: a server that speaks its protocol sends the messages that were written here by hand. Everything else
is real: the client, the tools, and the judge on this machine.
"""

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import EvalSpec, Stage
from passnet_core.records.trajectories import Budget, trajectory_lines
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from passnet_core.solvers.batch import solve
from passnet_core.solvers.llm.chat import ChatServer
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.solvers.llm.conversation import LanguageModel
from passnet_core.solvers.trajectories import read_trajectory
from tests.contract.model_server import Said, saying, serving

MODEL = "a script"


@dataclass(frozen=True)
class Example:
    name: str
    task: str
    said: tuple[Said, ...]
    turns: int = 12


def wrote(text: str, name: str, code: str) -> Said:
    return Said(text, [("write_file", json.dumps({"name": name, "code": code})), ("evaluate", "{}")])


def patched(text: str, name: str, old: str, new: str) -> Said:
    return Said(text, [("patch_file", json.dumps({"name": name, "old": old, "new": new})), ("evaluate", "{}")])


def finished(text: str) -> Said:
    return Said(text, [("finish", "{}")])


POINTWISE = '''"""{title}"""

import torch
import triton
import triton.language as tl


def pattern({arguments}):
{pattern}


def replacement_args({arguments}):
    return ({arguments},)


@triton.jit
def {name}_kernel({pointers}, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
{body}


@torch.fx.wrap
def {name}({arguments}):
{contiguous}
    out = torch.empty_like({first})
    count = {first}.numel()
    {name}_kernel[(triton.cdiv(count, 4096),)]({arguments}, out, count, BLOCK=4096, num_warps=8)
    return out


def replacement_func():
    return {name}
'''


def pointwise(title: str, name: str, arguments: Sequence[str], pattern: str, body: str) -> str:
    return POINTWISE.format(
        title=title,
        name=name,
        arguments=", ".join(arguments),
        first=arguments[0],
        pointers=", ".join(f"{each}_ptr" for each in arguments),
        pattern=indented(pattern),
        body=indented(body),
        contiguous=indented("\n".join(f"{each} = {each}.contiguous()" for each in arguments)),
    )


def indented(lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines.splitlines())


SIGMOID = pointwise(
    "Sigmoid in one kernel, in float32 within.",
    "sigmoid",
    ["x"],
    "return torch.sigmoid(x)",
    """x = tl.load(x_ptr + at, mask=inside)
wide = x.to(tl.float32)
tl.store(out_ptr + at, (1.0 / (1.0 + tl.exp(-wide))).to(x.dtype), mask=inside)""",
)
QUICK_GELU = pointwise(
    "Quick GELU: x times the sigmoid of 1.702 x, in one kernel.",
    "quick_gelu",
    ["x"],
    "return x * torch.sigmoid(1.702 * x)",
    """x = tl.load(x_ptr + at, mask=inside)
kind = x.dtype
wide = x.to(tl.float32)
scaled = (1.702 * wide).to(kind).to(tl.float32)
gate = (1.0 / (1.0 + tl.exp(-scaled))).to(kind).to(tl.float32)
tl.store(out_ptr + at, (wide * gate).to(kind), mask=inside)""",
)
SWIGLU = pointwise(
    "SiLU of one half times the other, in one kernel.",
    "swiglu",
    ["gate", "up"],
    "return torch.nn.functional.silu(gate) * up",
    """gate = tl.load(gate_ptr + at, mask=inside)
up = tl.load(up_ptr + at, mask=inside)
swish = gate / (1.0 + tl.exp(-gate.to(tl.float32))).to(gate.dtype)
tl.store(out_ptr + at, swish * up, mask=inside)""",
)
LIBRARY = '''"""Leaves the work to torch."""

import torch


def pattern(gate, up):
    return torch.nn.functional.silu(gate) * up


def replacement_args(gate, up):
    return (gate, up)


@torch.fx.wrap
def swiglu(gate, up):
    return torch.sigmoid(gate).mul_(gate).mul_(up)


def replacement_func():
    return swiglu
'''

EXAMPLES = (
    Example(
        "a-second-pass",
        "sigmoid-7bebfe",
        (
            wrote(
                "One pointwise operation. I read each element once, compute in float32 and round once, as eager does.",
                "fused_sigmoid.py",
                SIGMOID,
            ),
            wrote(
                "Three of the graphs call the method of the tensor instead: the same kernel, under another pattern.",
                "fused_sigmoid_method.py",
                SIGMOID.replace("torch.sigmoid(x)", "x.sigmoid()"),
            ),
            finished(
                "Seven of eight. The last graph calls torch.nn.functional.sigmoid, which a pattern cannot name:"
                " while it is traced, that function calls the method. I leave it there."
            ),
        ),
    ),
    Example(
        "repaired-twice",
        "clip-quick-gelu",
        (
            wrote(
                "Three pointwise operations in one kernel. The pattern first, then the kernel.",
                "quick_gelu.py",
                QUICK_GELU.replace("x * torch.sigmoid(1.702 * x)", "torch.nn.functional.gelu(x)").replace(
                    "1.702 * wide", "1.5 * wide"
                ),
            ),
            patched(
                "The graph has the operations one by one, not gelu. I write the pattern as the source does.",
                "quick_gelu.py",
                "torch.nn.functional.gelu(x)",
                "x * torch.sigmoid(1.702 * x)",
            ),
            patched(
                "It matches now, and the values are off everywhere: the kernel multiplies by 1.5, the graph by 1.702.",
                "quick_gelu.py",
                "1.5 * wide",
                "1.702 * wide",
            ),
            finished("Right on all six subgraphs, float16 and bfloat16 too, since every rounding of eager is kept."),
        ),
    ),
    Example(
        "out-of-turns",
        "swiglu-gate",
        (
            wrote("Torch can do this in place, without a kernel of my own.", "swiglu.py", LIBRARY),
            wrote(
                "The work has to be a kernel of the bundle. Here is one, which computes in the dtype of its inputs.",
                "swiglu.py",
                SWIGLU,
            ),
        ),
        turns=2,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded_conversations", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data/conversations"), metavar="DIR")
    parser.add_argument("names", nargs="*", help="the examples to write (default: all)")
    asked = parser.parse_args(arguments)
    settings = read_settings()
    corpus = corpus_of(settings)
    for each in EXAMPLES:
        if asked.names and each.name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder, serving({MODEL: saying(*each.said)}) as server:
            scheduler = Scheduler(LocalBackend(settings.python, settings.isolation, Path(folder) / "home"))
            try:
                info = scheduler.here
                spec = EvalSpec(Stage.VERIFY, info.device)
                solver = LanguageModel(ChatModel(ChatServer(server.base_url), MODEL), Budget(each.turns))
                tasks = [corpus.task(each.task)]
                solve(solver, tasks, scheduler, spec, Path(folder), cancelled=threading.Event())
            finally:
                scheduler.close()
            found = read_trajectory(Path(folder) / each.task / "1" / "trajectory.jsonl")
        told = f"a script plays the model; judged on {info.label}, {datetime.now(UTC):%Y-%m-%d}"
        opening = replace(found.opening, recorded=told, id=f"example-{each.name}")
        lines = trajectory_lines(replace(found, opening=opening))
        (asked.out / f"{each.name}.jsonl").write_text("".join(lines), encoding="utf-8")
        scores = [turn.score.accepted for turn in found.turns if turn.score]
        print(f"{each.name}: {each.task}, accepted turn by turn {scores}, {found.ending and found.ending.end}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
