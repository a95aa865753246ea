"""A solver without a model: rules that turn a task's subgraphs into fused kernels."""
