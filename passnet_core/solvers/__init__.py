"""What writes passes: language models, TorchInductor, and how they are run over tasks."""
