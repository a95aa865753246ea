"""What makes Triton's interpreter on a CPU behave like a GPU, and strict where it is lax."""
