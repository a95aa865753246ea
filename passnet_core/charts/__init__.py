"""Make Altair charts from records, and words for what they show."""
