"""Who uses a server that serves many: persons, their roles, tokens and classes, what they may use, and a log
of their deeds."""
