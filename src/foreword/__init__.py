"""Foreword gives an AI agent the right words before it speaks.

from foreword import Ask, Event, Foreword

with Foreword.open("~/memories") as foreword:
    foreword.record(Event("Maya's cat is called Biscuit.", session="monday"))
    print(foreword.brief(Ask("What is the name of Maya's cat?", session="tuesday")).text)
"""

from foreword.engine import Foreword, Found
from foreword.errors import ForewordError
from foreword.gate import GatePolicy
from foreword.model import Ask, Audience, Brief, Event, Kind, Memory, Origin, Outcome, Recorded, Session, Style
from foreword.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Ask",
    "Audience",
    "Brief",
    "Event",
    "Foreword",
    "ForewordError",
    "Found",
    "GatePolicy",
    "Kind",
    "Memory",
    "Origin",
    "Outcome",
    "Recorded",
    "Session",
    "Settings",
    "Style",
    "__version__",
]
