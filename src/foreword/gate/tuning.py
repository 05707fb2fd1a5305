"""Which thresholds agree best with what a person said of past turns. Pure: it proposes, and changes nothing.

A turn that was good must still give what was given, one that was noise should be silent, and one that missed something
should give more. The present settings are left for others only when that pays: the share of judged turns that come to
agree must be larger than the share of all turns that nobody judged and that would change nevertheless, and it must be
more than one turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from foreword.gate.verdict import LOWEST_FLOOR, GatePolicy, joining, passing, ranked
from foreword.model import Candidate, Feedback

# With fewer judged turns, or for the sake of a single one, a hasty word would decide.
NEEDED = 5
_LEAST_GAIN = 2
# Hundredths. Beyond these a gate is hardly one: it gives what is as likely wrong as right, or next to nothing.
_STEPS: Mapping[str, range] = {
    "confident": range(50, 91, 5),
    "floor": range(round(100 * LOWEST_FLOOR), 91, 5),
    "companion": range(30, 91, 10),
}


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn to learn from: what was found, what was given, and what a person said of it, if anything.
    `kept_out` are candidates that no setting of the gate would let in, such as what the conversation holds already."""

    receipt: str
    candidates: Sequence[Candidate]
    given: Collection[str] = ()
    kept_out: Collection[str] = ()
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `turns` judged alike, how many the present and the proposed settings do justice to."""

    turns: int = 0
    present: int = 0
    proposed: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings for the gate and the reason for them; the present ones when no others are worth a change.

    judged        what was said of turns that the gate could settle, and how far both settings agree with it
    out_of_reach  receipts of judged turns that no settings within the limits would settle
    missing       how many more judged turns it takes before anything is proposed
    unjudged      turns of which nobody said anything; `unjudged_changed` of them would be answered otherwise
    """

    present: GatePolicy
    proposed: GatePolicy
    reason: str
    judged: Mapping[Feedback, Agreement]
    out_of_reach: Sequence[str] = ()
    missing: int = 0
    unjudged: int = 0
    unjudged_changed: int = 0

    @property
    def changes(self) -> Mapping[str, float]:
        """The settings that would be other than now, by name."""
        wanted = {name: getattr(self.proposed, name) for name in _STEPS}
        return {name: value for name, value in wanted.items() if value != getattr(self.present, name)}

    @property
    def total(self) -> Agreement:
        kinds = self.judged.values()
        return Agreement(
            sum(one.turns for one in kinds), sum(one.present for one in kinds), sum(one.proposed for one in kinds)
        )


def propose(turns: Sequence[PastTurn], present: GatePolicy, *, most: int) -> Proposal:
    """The settings that agree best with the feedback on `turns`, where a brief holds at most `most` memories.

    No turn that was called good is given up for others. Among settings of equal worth those win that change fewest
    turns nobody judged, then the ones nearest to the present; the present ones win every tie.
    """
    every = [_Scored(turn, most) for turn in turns]
    options = [present, *_options(present)]
    judged = [turn for turn in every if turn.feedback]
    settled = [turn for turn in judged if any(turn.agrees(option) for option in options)]
    unjudged = [turn for turn in every if not turn.feedback]
    missing = max(NEEDED - len(settled), 0)
    best = present if missing else _best(options, settled, unjudged)
    return Proposal(
        present=present,
        proposed=best,
        reason=_reason(present, best, settled, missing),
        judged=_agreement(settled, present, best),
        out_of_reach=[turn.receipt for turn in judged if turn not in settled],
        missing=missing,
        unjudged=len(unjudged),
        unjudged_changed=_changed(unjudged, present, best),
    )


class _Scored:
    """A past turn with its confidences computed once, best first."""

    def __init__(self, turn: PastTurn, most: int) -> None:
        scored = ranked(turn.candidates)
        self.receipt = turn.receipt
        self.feedback = turn.feedback
        self._sure = [sure for sure, _ in scored]
        self._ids = [candidate.memory.id for _, candidate in scored]
        self._linked = scored if any(candidate.link for _, candidate in scored) else ()
        self._given = frozenset(turn.given)
        self._out = frozenset(turn.kept_out)
        self._most = most

    def under(self, policy: GatePolicy) -> frozenset[str]:
        """What these settings would have given."""
        count = passing(self._sure, policy)
        chosen = [one for one in self._ids[:count] if one not in self._out]
        if chosen and self._linked:
            joined = (self._ids[place] for place in joining(self._linked, count, policy))
            chosen += [one for one in joined if one not in self._out]
        return frozenset(chosen[: self._most])

    def agrees(self, policy: GatePolicy) -> bool:
        would_be = self.under(policy)
        if self.feedback is Feedback.GOOD:
            return self._given <= would_be
        if self.feedback is Feedback.NOISE:
            return not would_be
        return bool(would_be - self._given)


def _options(present: GatePolicy) -> Iterator[GatePolicy]:
    """Every combination within the limits, the present values among them, whatever they are."""
    values = {name: sorted({getattr(present, name), *(step / 100 for step in steps)}) for name, steps in _STEPS.items()}
    for confident, floor, companion in product(*values.values()):
        if floor <= confident:
            yield replace(present, confident=confident, floor=floor, companion=companion)


def _best(options: Sequence[GatePolicy], judged: Sequence[_Scored], unjudged: Sequence[_Scored]) -> GatePolicy:
    present = options[0]
    agreeing = [turn for turn in judged if turn.agrees(present)]
    good = [turn for turn in agreeing if turn.feedback is Feedback.GOOD]
    total = len(judged) + len(unjudged)
    now = [turn.under(present) for turn in unjudged]
    best, highest = present, (0.0,) * 7
    for option in options:
        gained = sum(turn.agrees(option) for turn in judged) - len(agreeing)
        if gained < _LEAST_GAIN or not all(turn.agrees(option) for turn in good):
            continue
        changed = sum(turn.under(option) != before for turn, before in zip(unjudged, now, strict=True))
        # gained / judged - changed / total, in whole numbers so that a tie is one.
        worth = gained * total - changed * len(judged)
        keys, steps = _distance(option, present)
        # Of two that are equally near, the stricter: silence costs less than noise.
        rank = (worth, -changed, -keys, -steps, option.confident, option.floor, option.companion)
        if worth > 0 and rank > highest:
            best, highest = option, rank
    return best


def _distance(option: GatePolicy, present: GatePolicy) -> tuple[int, float]:
    """How many settings change, and by how many steps in all."""
    moved = {
        name: abs(getattr(option, name) - getattr(present, name)) * 100 / steps.step for name, steps in _STEPS.items()
    }
    return sum(step > 0 for step in moved.values()), round(sum(moved.values()), 6)


def _changed(turns: Sequence[_Scored], present: GatePolicy, option: GatePolicy) -> int:
    return sum(turn.under(present) != turn.under(option) for turn in turns)


def _agreement(judged: Sequence[_Scored], present: GatePolicy, proposed: GatePolicy) -> dict[Feedback, Agreement]:
    turns, now, then = (
        Counter(turn.feedback for turn in judged if policy is None or turn.agrees(policy))
        for policy in (None, present, proposed)
    )
    return {kind: Agreement(turns[kind], now[kind], then[kind]) for kind in Feedback}


def _reason(present: GatePolicy, best: GatePolicy, judged: Sequence[_Scored], missing: int) -> str:
    if missing:
        return f"it takes {NEEDED} judged turns that the gate could settle, and there are {len(judged)}"
    if best != present:
        return "these settings agree with more of what was said, and are the smallest change that does"
    if all(turn.agrees(present) for turn in judged):
        return "the present settings agree with every judged turn that the gate could settle"
    return (
        "no other settings agree with at least two more judged turns without giving up one that was good"
        " or changing too many that nobody judged"
    )
