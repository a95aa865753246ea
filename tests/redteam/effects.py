"""What a mutation does to a bundle."""

from enum import StrEnum


class Effect(StrEnum):
    """The gravest that is seen on any draw."""

    FAILS = "does not run"
    """It does not load, raises, crashes or takes too long."""
    VALUES = "changes values"
    """It differs from the original by more than roundings do."""
    MEMORY = "touches other memory"
    """It gives the same, and reads or writes what it must not, or its programs race."""
    ROUNDINGS = "changes roundings"
    NONE = "changes nothing"
