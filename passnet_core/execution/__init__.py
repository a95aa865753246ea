"""Where and when jobs run: one queue before a backend, and the runs that are under way."""
