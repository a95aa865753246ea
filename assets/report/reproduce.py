"""What the files that reproduce outcomes have in common. reports/reproducing.py puts an outcome in place of what stands
before the line."""

VERDICT, REASON, RIGHT = "", "", []
INPUTS, PASSES, HELPERS = [], {}, {}
SUBGRAPH = REWRITTEN = ""

# --- what follows is the same in every such file ---------------------------------------------------------------------

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch
from torch.overrides import TorchFunctionMode

ON_GPU = torch.cuda.is_available()
if not ON_GPU:
    # before Triton is loaded: it then runs kernels without a GPU, slowly
    os.environ["TRITON_INTERPRET"] = "1"
DEVICE = "cuda" if ON_GPU else "cpu"
SPREADS = {"recorded": 0.2, "typical": 1.0, "wide": 8.0, "sparse": 1.0, "edges": 0.0}
"""The input sets, and how far each draws floats from their mean, in recorded standard deviations."""
ZEROS = 0.7
"""The share of zeros in "sparse" inputs."""
EDGES = (0.0, -0.0, 1.0, -1.0, 1e-4, -1e-4, 10.0, -10.0, 60.0, -60.0, 100.0, -100.0)
"""The values of "edges" inputs."""
SLACK = 4
"""How many times eager's own error against float64, and how many units in the last place, a result may be off."""
COARSE = 0.01
"""An error beyond this share of the largest value is no matter of precision."""
ROUNDS, CALLS = 50, 20


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="draw the inputs by this seed (default: 0)")
    parser.add_argument("--values-only", action="store_true", help="take no times")
    parser.add_argument("--here", action="store_true", help="in this process, which a kernel may crash")
    asked = parser.parse_args(given)
    if asked.here:
        return tried(asked)
    code = subprocess.run([sys.executable, *sys.argv, "--here"], check=False).returncode
    return code if code >= 0 else concluded("crashed", f"the process was ended by {signal.Signals(-code).name}")


def tried(asked):
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if ON_GPU else 'CPU with the Triton interpreter'}")
    if not ON_GPU and any(each["dtype"] == "bfloat16" for each in INPUTS):
        print("Triton's own interpreter does not compute with bfloat16: without a GPU the result means little.")
    try:
        passes = rewritten()
    except Exception as error:  # the passes may raise anything
        return concluded("does not load", f"{type(error).__name__}: {error}")
    eager, exact = module(SUBGRAPH), module(in_float64(SUBGRAPH))
    for number, kind in enumerate(SPREADS):
        inputs = drawn(kind, asked.seed + number)
        wanted, right = listed(called(eager, inputs)), listed(called(exact, list(map(widened, inputs)), wide=True))
        try:
            with Unwritten():
                given = listed(called(passes, inputs))
        except Exception as error:  # the passes may raise anything
            return concluded("compile failed" if of_compiling(error) else "crashed", f"{type(error).__name__}: {error}")
        verdict, reason = compared(wanted, given, right)
        print(f"{kind} inputs: {verdict}{reason and ': ' + reason}")
        if verdict != "right":
            return concluded(verdict, f"on {kind} inputs: {reason}")
    if ON_GPU and not asked.values_only:
        timed(eager, passes, remembered(drawn("recorded", asked.seed)))
    return concluded("right", "")


def of_compiling(error):
    """Whether Triton's compiler, or the interpreter in its place, refused a kernel."""
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    inside = bool(frames) and ("/triton/language/" in frames[-1].filename or "/triton/_utils" in frames[-1].filename)
    return inside or type(error).__module__.startswith(("triton.compiler", "triton.backends"))


def concluded(verdict, reason):
    print(f"verdict: {verdict}{reason and ' (' + reason + ')'}")
    print(f"the judge's: {VERDICT}{REASON and ' (' + REASON + ')'}")
    if verdict == VERDICT or (verdict == "right" and VERDICT in RIGHT):
        return 0
    print("Not the same. The judge also watches what the kernels do, and has more kinds of inputs: see its reason.")
    return 1


# --- modules ---


def module(source, **names):
    """The module in a source, placed on the device in use."""
    placed = source.replace("device(type='cuda', index=0)", f"device('{DEVICE}')")
    placed = re.sub(r"(['\"])cuda(:\d+)?\1", f"'{DEVICE}'", placed)
    namespace = dict(names)
    exec(compile(placed, "<subgraph>", "exec"), namespace)
    return namespace["GraphModule"]().eval()


def in_float64(source):
    wide = re.sub(r"torch\.(float32|float16|bfloat16)\b", "torch.float64", source)
    return re.sub(r"\.(half|bfloat16|float)\(", ".double(", wide)


def rewritten():
    """The subgraph after the passes, which calls their replacement functions."""
    folder = Path(tempfile.mkdtemp()) / "pass_dir"
    folder.mkdir()
    for name, code in {**PASSES, **HELPERS}.items():
        (folder / name).write_text(code, encoding="utf-8")
    sys.path[:0] = [str(folder), str(folder.parent)]
    keys, functions = {}, {}
    for name in PASSES:
        loaded = __import__(name[:-3])
        function = loaded.replacement_func()
        key = keys.setdefault(id(function), f"replacement_{len(keys)}")
        functions[key] = preparing(loaded, function) if key not in functions else functions[key]
    return module(REWRITTEN, **functions)


def preparing(loaded, function):
    """The replacement function; if its pass prepares weights, with those that are parameters of the model prepared."""
    prepare = getattr(loaded, "prepare", None)
    if prepare is None:
        return function
    names = loaded.replacement_args.__code__.co_varnames[: loaded.replacement_args.__code__.co_argcount]
    given = loaded.replacement_args(*names)
    given = given if isinstance(given, tuple) else (given,)

    def call(*args):
        weights = {
            name: value
            for name, value in zip(given, args)
            if isinstance(value, torch.Tensor) and value.data_ptr() in PARAMETERS
        }
        packed = prepare(weights) if weights else {}
        return function(*(packed.get(name, value) for name, value in zip(given, args)))

    return call


PARAMETERS = set()
"""Where the inputs are that were parameters of the source model."""


def remembered(inputs):
    """These inputs, of which the parameters are known from now on."""
    PARAMETERS.clear()
    PARAMETERS.update(value.data_ptr() for value, each in zip(inputs, INPUTS) if each["parameter"])
    return inputs


# --- inputs and calls ---


def drawn(kind, seed):
    """Inputs with the recorded shapes, dtypes and, about, statistics."""
    generator = torch.Generator().manual_seed(seed)
    inputs = []
    for each in INPUTS:
        dtype = getattr(torch, each["dtype"])
        shape, low, high = each["shape"], each.get("low"), each.get("high")
        if each.get("data") is not None:
            value = torch.tensor(each["data"], dtype=torch.float64).reshape(shape).to(dtype)
        elif dtype.is_floating_point:
            value = torch.randn(shape, generator=generator, dtype=torch.float64)
            value = value * (each.get("std") or 0.0) * SPREADS[kind] + (each.get("mean") or 0.0)
            if kind == "recorded" and low is not None and high is not None:
                value = value.clamp(low, high)
            if kind == "sparse" and not each["parameter"]:
                value = value * (torch.rand(shape, generator=generator) >= ZEROS)
            if kind == "edges" and not each["parameter"]:
                value = torch.tensor(EDGES)[torch.randint(len(EDGES), shape, generator=generator)]
            value = value.to(dtype)
        else:
            first, last = int(low or 0), int(high if high is not None else 1)
            value = torch.randint(first, max(first, last) + 1, shape, generator=generator).to(dtype)
        inputs.append(value.to(DEVICE))
    return inputs


def widened(value):
    return value.double() if value.is_floating_point() else value.clone()


def called(function, inputs, wide=False):
    """Call a module on copies of the inputs. wide: tensors that it makes are float64 by default."""
    copies = remembered([each.clone() for each in inputs])
    torch.set_default_dtype(torch.float64 if wide else torch.float32)
    try:
        torch.manual_seed(1024)
        with torch.no_grad():
            return function(*copies)
    finally:
        torch.set_default_dtype(torch.float32)


def listed(returned):
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


class Unwritten(TorchFunctionMode):
    """Memory that nobody has written holds a large number, so that it shows where a kernel leaves out a part."""

    MAKING = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in self.MAKING and made.is_floating_point():
            made.fill_(torch.finfo(made.dtype).max)
        return made


# --- comparing ---


def compared(wanted, given, right):
    """What is wrong with the results, in the judge's words, or "right"."""
    if len(wanted) != len(given):
        return "wrong type", f"{len(given)} results, eager returns {len(wanted)}"
    for number, (own, other, exact) in enumerate(zip(wanted, given, right)):
        verdict, reason = unlike(own, other, exact)
        if verdict:
            return verdict, f"output {number} {reason}"
    return "right", ""


def unlike(own, other, exact):
    if not isinstance(own, torch.Tensor):
        return ("", "") if own == other else ("wrong values", f"is {other!r}, eager's {own!r}")
    if not isinstance(other, torch.Tensor) or own.dtype != other.dtype:
        return "wrong type", f"is {getattr(other, 'dtype', type(other).__name__)}, eager's {own.dtype}"
    if own.shape != other.shape:
        return "wrong shape", f"has the shape {list(other.shape)}, eager's {list(own.shape)}"
    if not own.is_floating_point():
        count = int((own != other).sum())
        return ("wrong values", f"differs in {count} of {own.numel()} elements") if count else ("", "")
    lost = own.isfinite() != other.isfinite()
    lost |= own.isfinite().logical_not() & other.isfinite().logical_not() & (own.isnan() != other.isnan())
    if lost.any():
        return "wrong NaN or infinity", f"in {int(lost.sum())} of {own.numel()} elements"
    known = own.isfinite() & exact.isfinite()
    if not known.any():
        return "", ""
    wide, mine, theirs = exact[known].double(), own[known].double(), other[known].double()
    unit = torch.finfo(own.dtype).eps * wide.abs() + torch.finfo(own.dtype).tiny
    allowed = SLACK * (unit + (mine - wide).abs().max())
    error = (theirs - wide).abs()
    if not (error > allowed).any():
        return "", ""
    worst = int((error - allowed).argmax())
    said = (
        f"is {float(theirs[worst]):.6g} where float64 has {float(wide[worst]):.6g} and eager {float(mine[worst]):.6g}"
    )
    coarse = float(error.max()) > COARSE * float(wide.abs().max())
    return ("wrong values" if coarse else "lower precision"), said


# --- timing ---


def timed(eager, passes, inputs):
    """Print the median time of a call, with both in turns."""
    times = {"eager": [], "passes": []}
    with torch.no_grad():
        for function in (eager, passes):
            for _ in range(CALLS):
                function(*inputs)
        for _ in range(ROUNDS):
            for name, function in (("eager", eager), ("passes", passes)):
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(CALLS):
                    function(*inputs)
                torch.cuda.synchronize()
                times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    medians = {name: statistics.median(each) for name, each in times.items()}
    print(f"eager {medians['eager']:.1f} µs, passes {medians['passes']:.1f} µs, {CALLS} calls in a row, caches warm:")
    print(f"{medians['eager'] / medians['passes']:.2f} times as fast. The judge's clock is stricter.")


if __name__ == "__main__":
    sys.exit(main())
