"""Launcher, for a file named launching.py: launch a compiled kernel again without looking for it anew.

kernel[grid](...) looks at all arguments, finds the compiled kernel that fits them, and launches it, on every call. With
this module a pass does the first two once, and keeps what it found:

    LAUNCHES = {}

    @torch.fx.wrap
    def relu(x):
        out = torch.empty_like(x)
        key = facts(x)
        launch = LAUNCHES.get(key)
        if launch is None:
            grid = (triton.cdiv(x.numel(), 1024),)
            launch = LAUNCHES[key] = Launch(relu_kernel, grid, (x, out), {"count": x.numel(), "BLOCK": 1024})
        launch(x, out)
        return out

The key is what makes this right: it has to describe every argument of relu that the compiler or relu itself looks at.
Memory that a pass allocates need not be in it, since that always lies alike.
"""

import functools

import torch
import triton
from triton.knobs import HookChain
from triton.runtime import JITFunction, driver

try:
    # what torch.compile looks at arguments with
    from torch._C._dynamo.guards import TensorGuards
except ImportError:
    TensorGuards = None

PLAIN = ("Tensor", "Parameter")
"""Types of tensors that are what they seem: those of others may tell something else to Python than to C++."""

MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
"""The largest grid that CUDA launches, by axis."""


def facts(*args):
    """Describe all that a compiled kernel, or a plan for these arguments, depends on: a key for a dictionary.

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
    if isinstance(value, slice):
        return slice, facts(value.start, value.stop, value.step)
    return type(value), value


def recognizer(*tensors):
    """A function that says whether tensors have the dtypes, devices, shapes and strides of these, in a quarter of the
    time that facts() takes. It knows nothing of addresses, and may say no to tensors that have all of this."""
    if TensorGuards is None or any(type(each).__name__ not in PLAIN for each in tensors):
        return unlike
    return TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check


def unlike(*tensors):
    """What recognizer returns if it knows no tensors: none are like them."""
    return False


class Launch:
    """A kernel that is compiled for these arguments: call it with others of the same facts.

    kernel: a function under @triton.jit. What it names of its file must not change any more. grid: one to three
    numbers. args: the first parameters, which are tensors, and numbers if they differ from call to call. constants: the
    other parameters by name, tl.constexpr or not. They are the same in every launch. options: more for the compiler,
    such as num_stages, or enable_fp_fusion=False, which keeps products and sums apart.

    call: launches without counting the arguments first, so that it takes less time."""

    def __init__(self, kernel, grid, args, constants, num_warps=4, **options):
        self.kernel, self.given = kernel, len(args)
        self.grid = _checked_grid(grid)
        self.constants = _in_order(kernel, args, constants)
        self.options = {"num_warps": num_warps, **options}
        # Triton's interpreter compiles nothing
        self.call = self._compiled(args) if isinstance(kernel, JITFunction) else self._interpreted

    def __call__(self, *args):
        """Launch on the current stream of the arguments' device. Of a grid with a 0 no program runs."""
        if len(args) != self.given:
            raise TypeError(f"{self.kernel.fn.__name__} is launched with {len(args)} arguments, not {self.given}.")
        self.call(*args)

    def _interpreted(self, *args):
        self.kernel[self.grid](*args, **self.constants, **self.options)

    def _compiled(self, args):
        """Find out all that a launch needs besides its arguments, and return a function of these."""
        device = next(each.device.index for each in args if isinstance(each, torch.Tensor))
        with torch.cuda.device(device):
            found = self.kernel.warmup(*args, **self.constants, grid=(1,), **self.options)
            run, values = found.run, tuple(self.constants.values())
            # what those who follow launches are told: profilers, and the judge's list of kernels
            told = found.packed_metadata, found.launch_metadata(self.grid, None)
            launch = _lean(run, found.function, told, (*args, *values)) or _whole(run, found.function, told)
        call = launch(self.grid, device, values, triton.knobs.runtime)
        return call if torch.cuda.device_count() == 1 else _on(device, call)


def _whole(run, function, told):
    """How Triton launches: run is a function of Python that ends in one of C."""

    def launch(grid, device, values, hooks):
        begin = functools.partial(run, *grid)
        return _flat(begin, device, (function, *told), values, hooks)

    return launch


def _lean(run, function, told, args):
    """The same without the function of Python, by what Triton 3.6 and 3.7 do in it. None if a grid of no programs shows
    that this Triton does something else."""
    if type(run).__name__ != "CudaLauncher" or run.global_scratch_size or run.profile_scratch_size:
        return None
    head = function, run.launch_cooperative_grid, run.launch_pdl

    def flat(grid, device, values, hooks):
        return _flat(functools.partial(run.launch, *grid), device, (*head, None, None, *told), values, hooks)

    def nested(grid, device, values, hooks):
        tail = None, None, run.arg_annotations, run.kernel_signature
        return _nested(functools.partial(run.launch, *grid), device, (*head, *told), tail, values, hooks)

    launch = {"3.6": flat, "3.7": nested}.get(triton.__version__[:3])
    nothing = [None if isinstance(each, torch.Tensor) else each for each in args]
    try:
        launch((0, 1, 1), torch.cuda.current_device(), (), NobodyFollows)(*nothing)
    except (AttributeError, TypeError, ValueError, SystemError):
        return None
    return launch


class NobodyFollows:
    """Hooks for a launch that nobody is to be told of, since it runs no program."""

    launch_enter_hook = launch_exit_hook = None


def _flat(begin, device, head, values, hooks):
    stream_of = driver.active.get_current_stream

    def call(*args):
        enter, leave = hooks.launch_enter_hook, hooks.launch_exit_hook
        # an empty chain of hooks would be called all the same
        enter = None if type(enter) is HookChain and not enter.calls else enter
        leave = None if type(leave) is HookChain and not leave.calls else leave
        begin(stream_of(device), *head, enter, leave, *args, *values)

    return call


def _nested(begin, device, head, tail, values, hooks):
    stream_of = driver.active.get_current_stream

    def call(*args):
        enter, leave = hooks.launch_enter_hook, hooks.launch_exit_hook
        enter = None if type(enter) is HookChain and not enter.calls else enter
        leave = None if type(leave) is HookChain and not leave.calls else leave
        begin(stream_of(device), *head, enter, leave, *tail, (*args, *values))

    return call


def _on(device, call):
    """The call where another device may be the current one."""
    device_now = driver.active.get_current_device

    def guarded(*args):
        if device_now() == device:
            call(*args)
        else:
            with torch.cuda.device(device):
                call(*args)

    return guarded


LAUNCHES = {}
"""Every Launch that lean_launch has made. None is dropped, since a model has few shapes."""


def lean_launch(kernel, grid, args, constants, num_warps=4, **options):
    """Do what kernel[grid](*args, **constants, num_warps=num_warps, **options) does, and ask only once for these facts.

    All arguments are described on every call, so that a pass with a Launch of its own is faster still. Each value of
    a number gets its own Launch: good for sizes, not for a counter."""
    key = (kernel.fn, grid, num_warps, facts(*args), *constants, facts(*constants.values()), *options.items())
    launch = LAUNCHES.get(key)
    if launch is None:
        launch = LAUNCHES[key] = Launch(kernel, grid, args, constants, num_warps, **options)
    launch(*args)


def _checked_grid(grid):
    """The grid with three axes. Raises ValueError for one that CUDA refuses."""
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"A grid has one to three axes, not {len(grid)}.")
    for axis, (size, most) in enumerate(zip(grid, MOST_PROGRAMS)):
        if not 0 <= size <= most:
            raise ValueError(f"Axis {axis} of the grid {grid} has {size} programs, and may have 0 to {most}.")
    return (*grid, 1, 1)[:3]


def _in_order(kernel, args, constants):
    """Values of all parameters but the first ones, in the kernel's order. Raises TypeError if they do not fit."""
    name, parameters = kernel.fn.__name__, kernel.arg_names
    if not any(isinstance(each, torch.Tensor) for each in args):
        raise TypeError(f"{name} is given no tensor.")
    if len(args) > len(parameters):
        raise TypeError(f"{name} has {len(parameters)} parameters, and is given {len(args)} arguments.")
    left = parameters[len(args) :]
    for each in constants:
        if each not in left:
            raise TypeError(f"{name} has no parameter {each} that is left for constants: it has {', '.join(left)}.")
    defaults = kernel.fn.__defaults__ or ()
    known = {**dict(zip(reversed(parameters), reversed(defaults))), **constants}
    for each in left:
        if each not in known:
            raise TypeError(f"{name} needs a value of {each}: add it to args or constants.")
    return {each: known[each] for each in left}
