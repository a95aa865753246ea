"""What runs beside candidate code, or beside the reference: loading, tracing, calling, timing, recording launches."""
