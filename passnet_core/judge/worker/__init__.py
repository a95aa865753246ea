"""Code of the candidate worker and the witness: loading, tracing, calling, timing, recording launches."""
