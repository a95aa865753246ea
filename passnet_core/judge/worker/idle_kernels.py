"""Let every launch of a Triton kernel do nothing, to see what a bundle returns without its kernels."""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

from passnet_core.records import Device


class NotIdle(RuntimeError):
    """A kernel ran all the same, since the bundle keeps it compiled and launches it without its function."""


@contextmanager
def idle_kernels(
    device: Device, listening: Callable[[Callable[[str], None]], AbstractContextManager[None]]
) -> Iterator[None]:
    """Skip the launches meanwhile. On CUDA kernels are still compiled.

    listening: calls a function with the name of each kernel that is launched on CUDA. Raises NotIdle at the end if any
    was."""
    if device is Device.CPU:
        from triton.runtime.interpreter import InterpretedFunction as Launching
    else:
        from triton.runtime.jit import JITFunction as Launching
    run = Launching.run
    launched: list[str] = []

    @functools.wraps(run)
    def skipped(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        return run(self, *args, grid=grid, warmup=True, **kwargs)

    with mock.patch.object(Launching, "run", skipped), listening(launched.append):
        yield
    if launched:
        raise NotIdle(f"{launched[0]} was launched all the same.")
