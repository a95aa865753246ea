"""The referee's side of a process: fork servers, their workers, the sandbox, limits and the device lock."""
