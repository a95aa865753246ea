"""All that crosses a border between the judge's processes: messages, their framing, and what each side may ask."""
