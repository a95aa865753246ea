"""Triton's interpreter on a machine without a GPU."""


def mend() -> None:
    """Repairs what the interpreter computes differently from a GPU. Call before a bundle is loaded; idempotent."""
    # a judge with a GPU needs neither the interpreter nor numpy, which the interpreter is written in
    from passnet_core.judge.worker import emulation

    emulation.mend()
