"""The checks of VERIFY, one a file: each names the cheat or slip it catches. CHECKS in verify.py is their order."""
