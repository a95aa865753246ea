"""Files that bundles carry with them. They import torch and triton, so the package reads them as text."""

from pathlib import Path

from passnet_core.records import PassFile

FOLDER = Path(__file__).with_name("carried_files")


def launching() -> PassFile:
    """The lean launcher: a helper that launches compiled kernels again at little cost on the host."""
    return _carried("launching.py")


def planning() -> PassFile:
    """What replacement functions need to plan their launches: sizes, strides and tiles."""
    return _carried("planning.py")


def numerics() -> PassFile:
    """What a kernel needs to give the last bit of PyTorch's own kernels where Triton's functions do not."""
    return _carried("numerics.py")


def _carried(name: str) -> PassFile:
    return PassFile(name, (FOLDER / name).read_text(encoding="utf-8"))
