"""The input draws of a comparison, a file each."""
