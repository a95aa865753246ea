"""Where and when jobs run: backends, the one queue before them, and the runs in progress."""
