"""The frames of a timed call: seed and slot go out, claimed microseconds and a digest come back."""

import struct

ASKED = struct.Struct("<QBB6x")
"""What the referee sends for a call: seed, slot, and what to do."""
ANSWERED = struct.Struct("<dq")
"""What comes back after each step: claimed microseconds, digest; 0 where one is not known yet. NaN: the step failed."""
GO = b"g"
"""What the referee sends once the inputs are drawn."""

CALL, KEEP, END = 1, 2, 4
"""KEEP: hold what the previous call returned, to be sent at the end."""
