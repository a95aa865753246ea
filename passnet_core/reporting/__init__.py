"""A run as one HTML file that opens anywhere: what goes into it, its pictures, and its text."""
