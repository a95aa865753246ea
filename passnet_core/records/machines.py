"""The machines that judge: what an outcome depends on, and what their GPU is."""

from dataclasses import dataclass
from functools import cached_property

from passnet_core.records.codec import digest_of, to_json
from passnet_core.records.enums import Isolation


@dataclass(frozen=True)
class Environment:
    """Where an outcome was made. A stored outcome answers again only for an equal environment."""

    device: str
    driver: str
    python: str
    torch: str
    triton: str
    isolation: Isolation
    judge_digest: str
    platform: str = ""

    @cached_property
    def digest(self) -> str:
        return digest_of(to_json(self))


@dataclass(frozen=True)
class Accelerator:
    """What a GPU is, by its driver. bytes_per_us: what a copy on it moves, read and written, measured once."""

    capability: str
    """Of its architecture: "9.0"."""
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    bytes_per_us: float
