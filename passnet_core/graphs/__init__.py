"""Subgraphs as plain data: parsing, drawing, matching and rewriting, without torch."""
