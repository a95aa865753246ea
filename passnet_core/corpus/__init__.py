"""Tasks and subgraphs: reading, writing and indexing them, and extracting new ones from models."""
