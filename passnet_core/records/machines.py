"""The machines that judge: the environment that an outcome depends on, and the properties of a GPU."""

from dataclasses import dataclass
from functools import cached_property

from passnet_core.records.codec import digest_of, identifying
from passnet_core.records.enums import Isolation


@dataclass(frozen=True)
class Environment:
    """The machine and the versions that an outcome was made with. A stored outcome is reused only for equal ones.

    device: the GPU's name, or "CPU: " and the processor's. driver: the GPU driver's version; empty on a CPU. python,
    torch, triton: versions. judge_digest: identifies the judge's code. platform: operating system and architecture;
    empty in older records. clock_version: the way in which times are taken, as in timing.CLOCK_VERSION; 1 in older
    records."""

    device: str
    driver: str
    python: str
    torch: str
    triton: str
    isolation: Isolation
    judge_digest: str
    platform: str = ""
    clock_version: int = 1

    @cached_property
    def digest(self) -> str:
        return digest_of(identifying(self, later=("clock_version",)))


@dataclass(frozen=True)
class Accelerator:
    """The properties of a GPU, as its driver reports them.
    bytes_per_us: the measured bandwidth of a copy on the device, bytes read plus bytes written per microsecond."""

    capability: str
    """The compute capability, such as "9.0"."""
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    bytes_per_us: float
