"""Reports on whole runs: one run as an HTML file that opens anywhere, and the differences between two runs."""
