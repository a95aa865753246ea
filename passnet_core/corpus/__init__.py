"""Tasks and subgraphs: read, write, index and search them, and cut new ones from models."""
