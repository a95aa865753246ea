"""Patches of what surrounds a kernel in Triton's interpreter, so that launches behave as on a GPU.

Unpatched, a grid function gets the interpreter's tensors instead of the launch's arguments, autotuning looks for a
device, a misspelt argument is dropped, and kernels that import Triton's functions by name do not run."""

import inspect
import math
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import triton
import triton.language as tl
import triton.runtime.interpreter as interpreter
import triton.testing
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import InterpreterError
from triton.runtime.jit import JITFunction

from passnet_core.judge.gpu_on_cpu import guarded_memory
from passnet_core.judge.gpu_on_cpu.needs_gpu import NeedsGpu, root_of

Place = tuple[int, int, int]
"""A program's place in the grid."""

MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
"""The largest grid that CUDA launches, by axis."""

OPTIONS = frozenset(
    {
        "num_warps", "num_ctas", "num_stages", "warp_size", "maxnreg", "ptx_version", "ptx_options", "ir_override",
        "enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid", "launch_pdl", "supported_fp8_dtypes",
        "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision", "allowed_dot_input_precisions",
        "max_num_imprecise_acc_default", "extern_libs", "debug", "backend_name", "sanitize_overflow", "arch",
        "instrumentation_mode",
    }
)  # fmt: skip
"""What a launch for CUDA takes besides the kernel's own parameters."""

TRIAL_MS, UNTRIED_MS = 0.01, float("inf")
"""The times that autotuning is told: no time without a GPU means anything."""

RETUNED = 0.5
"""At which share of new inputs autotuners choose anew."""


class LaunchRefused(RuntimeError):
    """CUDA refuses a launch."""


class Watcher:
    """Sees each launch: what it was given, its programs, which it runs, and its end."""

    def begin(self, name: str, grid: Place, arguments: dict[str, Any]) -> None:
        """Nothing is to be done."""

    def run(self, places: Sequence[Place], program: Callable[[Place], None]) -> None:
        for place in places:
            program(place)

    def end(self) -> None:
        """Nothing is to be done."""


watchers: list[Watcher] = []
"""Those who see the launches of this process. The last one runs the programs, in an order that it decides."""

recording: list[object] = []
"""Not empty while a plan is recorded: nothing runs then, and nothing takes time."""

trials: list[object] = []
"""Not empty while an autotuner tries a configuration."""

tuned: list[object] = []
"""Not empty while an autotuner launches, be it to try a configuration or for good."""


chance = random.SystemRandom()

inputs_given = [0]
"""How often this process was given other inputs. Until the next time, an autotuner keeps to what it has chosen."""


def choose_anew() -> None:
    """Let autotuners choose another configuration from the next launch on, perhaps."""
    if chance.random() < RETUNED:
        inputs_given[0] += 1


def mend() -> None:
    """Patch the launches of this process."""
    interpreter.GridExecutor.__call__ = _launch
    JITFunction.run = _refuse_compiled
    _mend_globals()
    _mend_autotuning()
    guarded_memory.mend()


# --- launches --------------------------------------------------------------------------------------------------------


def resolved(
    function: Callable[..., Any], grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Place, dict[str, Any], dict[str, Any]]:
    """The sizes of a launch's grid, what it passes to the kernel by name, and its options. Raises KeyError for an
    argument that a GPU would refuse, and LaunchRefused for a grid."""
    known = inspect.getfullargspec(function).args
    unknown = [name for name in kwargs if name not in known and name not in OPTIONS]
    if unknown:
        raise KeyError(f"Keyword argument {unknown[0]} was specified but unrecognised")
    options = {name: value for name, value in kwargs.items() if name not in known}
    own = {name: value for name, value in kwargs.items() if name in known}
    sizes = grid(inspect.getcallargs(function, *args, **own)) if callable(grid) else grid
    return _sizes(sizes), own, options


def _launch(self: Any, *args: Any, **kwargs: Any) -> None:
    """Run every program of a launch, as GridExecutor.__call__ does."""
    grid, kwargs, _ = resolved(self.fn, self.grid, args, kwargs)
    args_here, kwargs_here = self._init_args_hst(args, kwargs)
    for hook in self.pre_run_hooks:
        hook(*args_here, **kwargs_here)
    scope = interpreter._patch_lang(self.fn)
    try:
        given = inspect.getcallargs(self.fn, *args_here, **kwargs_here)
        converted = {
            name: value if name in self.constexprs else interpreter._implicit_cvt(value)
            for name, value in given.items()
        }
        _run_programs(self.fn, grid, given, converted)
    finally:
        scope.restore()
    self._restore_args_dev(args, args_here, kwargs, kwargs_here)


def _refuse_compiled(self: Any, *_args: Any, **_kwargs: Any) -> None:
    """Functions that triton.jit did not give to the interpreter, such as those of Gluon, are for a GPU only."""
    raise NeedsGpu(f"the kernel {self.fn.__name__}, which is not in the language of triton.jit,")


def _sizes(grid: Any) -> Place:
    sizes = [operator.index(each) for each in grid]
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"A grid has one to three axes, not {len(sizes)}.")
    for axis, (size, most) in enumerate(zip(sizes, MOST_PROGRAMS)):
        if size > most:
            raise LaunchRefused(f"Triton Error [CUDA]: invalid argument: axis {axis} of the grid has {size} programs.")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


class _Places(Sequence[Place]):
    """The places of all programs of a grid, which may be very many, in the interpreter's order."""

    def __init__(self, grid: Place) -> None:
        self.grid = grid

    def __len__(self) -> int:
        return math.prod(self.grid)

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        rest, z = divmod(number, self.grid[2])
        x, y = divmod(rest, self.grid[1])
        return x, y, z


def _run_programs(function: Any, grid: Place, given: dict[str, Any], converted: dict[str, Any]) -> None:
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*grid)
    places = _Places(grid)
    guarded_memory.begin(given)
    watching = tuple(watchers)
    for each in watching:
        each.begin(function.__name__, grid, given)

    def program(place: Place) -> None:
        builder.set_grid_idx(*place)
        function(**converted)

    try:
        (watching[-1] if watching else Watcher()).run(places, program)
    except Exception as error:
        if triton.knobs.compilation.front_end_debugging:
            raise
        raise InterpreterError(repr(error)) from error
    finally:
        for each in watching:
            each.end()


# --- names -----------------------------------------------------------------------------------------------------------


def _mend_globals() -> None:
    """Let a kernel call functions of triton.language that its file imported by their names."""
    rewrite = interpreter.InterpretedFunction.rewrite

    def rewritten(self: Any) -> Any:
        if self.fn not in self.rewritten_fn and not self.fn.__module__.startswith("triton."):
            names = self.fn.__globals__
            for name, value in list(names.items()):
                if inspect.isfunction(value) and tl.core.is_builtin(value):
                    names[name] = _interpreting(value)
        return rewrite(self)

    interpreter.InterpretedFunction.rewrite = rewritten


def _interpreting(builtin: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as the interpreter calls it: by its name in triton.language, which is patched while it runs."""
    name = builtin.__name__

    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("_semantic", None)
        patched = getattr(tl, name, None)
        if patched is not None and patched is not builtin:
            return patched(*args, **kwargs)
        return builtin(*args, **kwargs, _semantic=interpreter.interpreter_semantic)

    return call


def static_assert(condition: Any, message: Any = "") -> None:
    """tl.static_assert. Raises the compiler's exception, for which an autotuner passes over a configuration."""
    if not condition:
        raise CompileTimeAssertionFailure(None, None, str(getattr(message, "value", message)) or "static_assert failed")


# --- autotuning ------------------------------------------------------------------------------------------------------


def _mend_autotuning() -> None:
    """Choose a configuration at random among those that survive pruning and run, since a GPU may choose any of them:
    another one now and then, but the same for calls on the same inputs. It is run once to find out whether it runs, so
    that resetting and restoring arguments matters as it does on a GPU, where each is tried many times."""
    bench, run = Autotuner._bench, Autotuner.run

    def tried(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        if self.found:
            return [UNTRIED_MS] * 3
        if self._do_bench is None:
            self._do_bench = run_once
        trials.append(config)
        try:
            timings = bench(self, *args, config=config, **meta)
        except InterpreterError as error:
            if not isinstance(root_of(error), CompileTimeAssertionFailure):
                raise
            return [UNTRIED_MS] * 3
        finally:
            trials.pop()
        first = timings[0] if isinstance(timings, Sequence) else timings
        self.found = first != UNTRIED_MS
        return timings

    def run_tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.found = False
        if getattr(self, "chosen_for", None) != inputs_given[0]:
            self.chosen_for = inputs_given[0]
            self.cache.clear()
            self.configs = chance.sample(self.configs, len(self.configs))
        tuned.append(self)
        try:
            return run(self, *args, **kwargs)
        finally:
            tuned.pop()

    Autotuner._bench, Autotuner.run = tried, run_tuned
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = run_once


def run_once(
    function: Callable[[], object],
    *_args: Any,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **_kwargs: Any,
) -> Any:
    """triton.testing.do_bench without a clock: one call, and any time, so that any of several may be the fastest."""
    if not recording:
        function()
    time_ms = TRIAL_MS * (1 if recording else 1 + chance.random())
    if quantiles is not None:
        return time_ms if len(quantiles) == 1 else [time_ms] * len(quantiles)
    return [time_ms] if return_mode == "all" else time_ms
