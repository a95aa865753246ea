"""Inputs drawn and perturbed, outputs compared: what tells a right value from a wrong one."""
