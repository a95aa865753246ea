"""What is told of whole runs: one as an HTML file that opens anywhere, and what differs between two."""
