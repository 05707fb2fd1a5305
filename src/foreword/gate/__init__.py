"""Candidates in, verdicts with reasons out. Pure."""

from foreword.gate.confidence import confidence, features
from foreword.gate.verdict import GatePolicy, judge

__all__ = ["GatePolicy", "confidence", "features", "judge"]
