"""Solvers (language models, TorchInductor), and running them over tasks."""
