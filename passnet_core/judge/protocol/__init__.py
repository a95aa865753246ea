"""Everything that crosses a process border of the judge: messages, their framing, and the requests of each side."""
