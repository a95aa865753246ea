"""Where jobs run: this machine, or a fake for tests."""
