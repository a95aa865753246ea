"""Inputs of the recorded mean and spread."""

from passnet_core.judge.numerics.draws.drawing import InputDraw

DRAW = InputDraw("typical")
