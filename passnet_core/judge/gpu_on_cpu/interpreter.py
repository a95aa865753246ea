"""Triton's interpreter, for machines without a GPU."""


def mend() -> None:
    """Make the interpreter compute what a GPU computes. Call before a bundle is loaded; idempotent."""
    # imported here, since a judge with a GPU needs neither the interpreter nor numpy, on which it is built
    from passnet_core.judge.gpu_on_cpu import emulation

    emulation.mend()


def is_on() -> bool:
    """Whether Triton interprets kernels in this process."""
    import triton.knobs

    return bool(triton.knobs.runtime.interpret)
