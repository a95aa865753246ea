"""Language models that write passes: the client, the conversation, the tools, and what a good colleague would say."""
