"""Launch a compiled kernel again without looking for it anew.

kernel[grid](...) looks at all arguments, finds the compiled kernel that fits them, and launches it, on every call.
lean(kernel)[grid](...) does the same, and finds the kernel only once for arguments of a kind.
"""

import functools

import torch
import triton
from triton.knobs import HookChain
from triton.runtime import JITFunction, driver

MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
"""The largest grid that CUDA launches, by axis."""

LAUNCHES = {}
"""What has been found. Nothing is dropped, since a model has few shapes."""


class lean:
    """What launches a kernel in place of the kernel itself. Each value of a number gets an entry of its own: good for
    sizes, not for a counter."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, grid):
        # Triton's interpreter and autotuners do more than launch a compiled kernel, and a function gives another grid
        if not isinstance(self.kernel, JITFunction) or callable(grid):
            return self.kernel[grid]
        return functools.partial(_launch, self.kernel, grid if isinstance(grid, tuple) else (grid,))


def _launch(kernel, grid, *args, **named):
    key = (kernel.fn, grid, facts(*args), *named, facts(*named.values()))
    found = LAUNCHES.get(key)
    if found is None:
        found = LAUNCHES[key] = _found(kernel, grid, args, named)
    order, defaults, call = found
    named = {**defaults, **named}
    call(*args, *[named[each] for each in order])


def facts(*args):
    """Describe all that a compiled kernel depends on: a key for a dictionary.

    Of a tensor these are its form and whether it begins at a multiple of 16 bytes, where the compiler may read more at
    once; never its values. Of anything else they are type and value: 1, 1.0 and True are different constants."""
    return tuple(
        [
            (each.dtype, each.device, each.shape, each.stride(), each.data_ptr() % 16 == 0)
            if isinstance(each, torch.Tensor)
            else _told(each)
            for each in args
        ]
    )


def _told(value):
    if isinstance(value, float):
        # 0.0 equals -0.0, and nan does not equal itself; their texts do as they should
        return type(value), repr(value)
    if isinstance(value, tuple | list):
        return type(value), facts(*value)
    return type(value), value


def _found(kernel, grid, args, named):
    """The parameters that follow args, in the kernel's order, their defaults, and a function that launches with a value
    for each parameter."""
    grid = _checked(grid)
    order = kernel.arg_names[len(args) :]
    defaults = dict(zip(reversed(kernel.arg_names), reversed(kernel.fn.__defaults__ or ())))
    defaults = {name: value for name, value in defaults.items() if name in order}
    device = next(each.device.index for each in (*args, *named.values()) if isinstance(each, torch.Tensor))
    with torch.cuda.device(device):
        compiled = kernel.warmup(*args, **named, grid=(1,))
        # what those who follow launches are told, such as profilers
        told = compiled.packed_metadata, compiled.launch_metadata(grid, None)
        values = [*args, *[{**defaults, **named}[each] for each in order]]
        call = _lean(compiled.run, compiled.function, told, values, grid, device) or _whole(
            compiled.run, compiled.function, told, grid, device
        )
    return order, defaults, call if torch.cuda.device_count() == 1 else _on(device, call)


def _whole(run, function, told, grid, device):
    """How Triton launches: run is a function of Python that ends in one of C."""
    return _flat(functools.partial(run, *grid), device, (function, *told))


def _lean(run, function, told, values, grid, device):
    """The same without the function of Python, by what Triton 3.6 and 3.7 do in it. None if a grid of no programs shows
    that this Triton does something else."""
    if type(run).__name__ != "CudaLauncher" or run.global_scratch_size or run.profile_scratch_size:
        return None
    head = function, run.launch_cooperative_grid, run.launch_pdl

    def launch(grid, hooks=triton.knobs.runtime):
        begin = functools.partial(run.launch, *grid)
        if triton.__version__.startswith("3.6"):
            return _flat(begin, device, (*head, None, None, *told), hooks)
        if triton.__version__.startswith("3.7"):
            tail = None, None, run.arg_annotations, run.kernel_signature
            return _nested(begin, device, (*head, *told), tail, hooks)
        return None

    nothing = [None if isinstance(each, torch.Tensor) else each for each in values]
    try:
        trial = launch((0, 1, 1), NobodyFollows)
        if trial is not None:
            trial(*nothing)
        return launch(grid)
    except (AttributeError, TypeError, ValueError, SystemError):
        return None


class NobodyFollows:
    """Hooks for a launch that nobody is to be told of, since it runs no program."""

    launch_enter_hook = launch_exit_hook = None


def _flat(begin, device, head, hooks=triton.knobs.runtime):
    stream_of = driver.active.get_current_stream

    def call(*values):
        begin(stream_of(device), *head, *_listening(hooks), *values)

    return call


def _nested(begin, device, head, tail, hooks):
    stream_of = driver.active.get_current_stream

    def call(*values):
        begin(stream_of(device), *head, *_listening(hooks), *tail, values)

    return call


def _listening(hooks):
    """The hooks of a launch. An empty chain of hooks would be called all the same."""
    enter, leave = hooks.launch_enter_hook, hooks.launch_exit_hook
    enter = None if type(enter) is HookChain and not enter.calls else enter
    leave = None if type(leave) is HookChain and not leave.calls else leave
    return enter, leave


def _on(device, call):
    """The call where another device may be the current one."""
    device_now = driver.active.get_current_device

    def guarded(*values):
        if device_now() == device:
            call(*values)
        else:
            with torch.cuda.device(device):
                call(*values)

    return guarded


def _checked(grid):
    """The grid with three axes. Raises ValueError for one that CUDA refuses."""
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"A grid has one to three axes, not {len(grid)}.")
    for axis, (size, most) in enumerate(zip(grid, MOST_PROGRAMS)):
        if not 0 <= size <= most:
            raise ValueError(f"Axis {axis} of the grid {grid} has {size} programs, and may have 0 to {most}.")
    return (*grid, 1, 1)[:3]
