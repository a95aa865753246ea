"""Draw and perturb inputs, compare outputs: everything that tells right values from wrong ones."""
