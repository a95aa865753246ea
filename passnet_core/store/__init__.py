"""The result store: runs, outcomes, bundles, drafts and conversations in one DuckDB file, written by one process."""
