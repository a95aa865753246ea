"""A client of the judge's service, and its adapters for frameworks that train models: trl, verl, verifiers and openenv.

It imports nothing else of this project, and no other package but the framework of an adapter."""

from passnet_client.judge_client import JudgeClient, JudgeError, JudgeSession, shares

__all__ = ["JudgeClient", "JudgeError", "JudgeSession", "shares"]
