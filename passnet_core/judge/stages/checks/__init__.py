"""The checks of VERIFY, one per file. Each names the cheat or slip that it catches; verify.py lists their order."""
