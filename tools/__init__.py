"""Developers' programs that build data/: they cut models into tasks and record baselines. Nothing at run time imports
them."""
