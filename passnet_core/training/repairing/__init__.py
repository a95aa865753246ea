"""Conversations for training in which a script plays the model: it makes typical mistakes, and mends what the judge
found."""
