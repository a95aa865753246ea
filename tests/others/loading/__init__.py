"""Programs that load exports with the libraries of their readers, each run by an environment that has the library.

They print one JSON object with what they saw. tests/others/test_exports_load.py says what it has to be."""
