"""The judge's service as frameworks for training see it. Each module is one file to copy beside judge_client.py."""
