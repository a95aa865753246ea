"""Who uses a server that serves many: persons, their roles and tokens, what they may use, and a log of their deeds."""
