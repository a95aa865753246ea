"""What is kept: runs, outcomes, bundles, environments and drafts, in one DuckDB file with one writing process."""
