"""Candidates in, verdicts with reasons out. Pure."""

from foreword.gate.confidence import at_most, confidence, features, gain
from foreword.gate.tuning import Agreement, PastTurn, Proposal, propose
from foreword.gate.verdict import GatePolicy, judge, lenders, worth_reading

__all__ = [
    "Agreement",
    "GatePolicy",
    "PastTurn",
    "Proposal",
    "at_most",
    "confidence",
    "features",
    "gain",
    "judge",
    "lenders",
    "propose",
    "worth_reading",
]
