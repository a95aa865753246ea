"""The referee's side of a process: fork servers, their children, the sandbox, limits and the device lock."""
