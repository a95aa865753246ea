"""The frames of a timed call: the referee sends seed and slot, the worker answers with microseconds and a digest."""

import struct

ASKED = struct.Struct("<QBB6x")
"""The referee's request: seed, slot, and the flags CALL, KEEP and END."""
ANSWERED = struct.Struct("<dq")
"""The worker's answer after each step: claimed microseconds and digest, 0 while unknown; NaN if the step failed."""
GO = b"g"
"""The referee's word to make the call, sent once the inputs are drawn."""

CALL, KEEP, END = 1, 2, 4
"""CALL: make one call. KEEP: keep what the previous call returned, and send it at the end. END: stop."""
