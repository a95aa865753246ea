"""Developers' programs that build data/: models are cut into tasks here, and baselines recorded. Nothing at run time
imports them."""
