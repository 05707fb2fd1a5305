"""A careful change of a live workspace, phase by phase, with a one-command way back, and the proof that it works."""

from foreword.rollout.phases import LAST, TITLES, Phase, Progress, Rollout, Standing
from foreword.rollout.validate import Criterion, State, validate

__all__ = ["LAST", "TITLES", "Criterion", "Phase", "Progress", "Rollout", "Standing", "State", "validate"]
