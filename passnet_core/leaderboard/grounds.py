"""Grounds: the conditions that measured results must share to be comparable."""

from typing import Protocol

from passnet_core.records import Capture, Profile

Ground = tuple[str, Capture, Profile, int]
"""Device, capture, profile and clock version: the conditions that results ranked together share."""


class OnGround(Protocol):
    """What was measured under such conditions. device: its name."""

    @property
    def device(self) -> str: ...
    @property
    def capture(self) -> Capture: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def clock_version(self) -> int: ...


def ground_of(each: OnGround) -> Ground:
    """Return the conditions under which this was measured: only what shares them is comparable."""
    return each.device, each.capture, each.profile, each.clock_version
