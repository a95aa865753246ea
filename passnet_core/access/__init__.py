"""Who may see and do what: the service as one person sees it."""
