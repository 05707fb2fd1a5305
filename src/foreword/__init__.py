"""Foreword gives an AI agent the right words before it speaks.

from foreword import Ask, Event, Foreword

with Foreword.open("~/memories") as foreword:
    foreword.record(Event("Maya's cat is called Biscuit.", session="monday"))
    print(foreword.brief(Ask("What is Maya's cat called?", session="tuesday")).text)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreword.engine import Foreword, Found
    from foreword.errors import ForewordError
    from foreword.gate import GatePolicy
    from foreword.model import (
        Ask,
        Audience,
        Brief,
        Event,
        Feedback,
        Kind,
        Memory,
        Origin,
        Outcome,
        Recorded,
        Session,
        Style,
    )
    from foreword.prompter import Prompter
    from foreword.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Ask",
    "Audience",
    "Brief",
    "Event",
    "Feedback",
    "Foreword",
    "ForewordError",
    "Found",
    "GatePolicy",
    "Kind",
    "Memory",
    "Origin",
    "Outcome",
    "Prompter",
    "Recorded",
    "Session",
    "Settings",
    "Style",
    "__version__",
]

_ROOMS = {
    "Foreword": "engine",
    "Found": "engine",
    "ForewordError": "errors",
    "GatePolicy": "gate",
    "Prompter": "prompter",
    "Settings": "settings",
}


def __getattr__(name: str) -> Any:
    """Rooms are entered on first use: `foreword --help` and a host's hooks must not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'foreword' has no attribute '{name}'")
    return getattr(import_module(f"foreword.{_ROOMS.get(name, 'model')}"), name)
