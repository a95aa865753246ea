"""Subgraphs as plain data: parsing, matching, rewriting and rendering, without torch."""
