"""Language models as solvers: the client, the conversation, the tools, the prompts, and feedback on outcomes."""
