"""What a person says of a turn."""

from __future__ import annotations

from enum import StrEnum

from foreword.errors import BadInput

_CLEAR = "clear"


class Feedback(StrEnum):
    """good      what was given helped
    noise     what was given should not have been
    missed    something that is kept should have been given, and was not
    """

    GOOD = "good"
    NOISE = "noise"
    MISSED = "missed"

    @classmethod
    def named(cls, name: str) -> Feedback | None:
        """None is `clear`: what was said is taken back. Raises BadInput."""
        if name == _CLEAR:
            return None
        try:
            return cls(name)
        except ValueError:
            raise BadInput(
                f"{str(name)[:40]!r} is no feedback.", hint=f"Use {', '.join(cls)}, or {_CLEAR} to take it back."
            ) from None
