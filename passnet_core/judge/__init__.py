"""The evaluation processes: the only code that imports torch or triton at run time. Started, never imported."""
