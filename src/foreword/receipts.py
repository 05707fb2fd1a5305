"""Every decision leaves a receipt, silent ones too; this makes them, explains them to people, and judges them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from foreword.errors import BadInput
from foreword.model import Candidate, Feedback, Link, Memory, Signals, Verdict, how_sure
from foreword.values import dataclass

PREFIX = "r"
# What one memory would have cost a host that pushes its best hits without asking whether they help.
_PUSHED_TOKENS = 200

Receipt = dict[str, Any]
_SIGNALS = tuple(one.name for one in fields(Signals))
_values_of = attrgetter(*_SIGNALS)
SAID = {
    Feedback.GOOD: "what was given helped",
    Feedback.NOISE: "what was given should not have been",
    Feedback.MISSED: "something should have been given and was not",
}


def row_of(receipt_id: str) -> int:
    if not isinstance(receipt_id, str):
        raise BadInput(f"{receipt_id!r} is not an id.")
    digits = receipt_id.removeprefix(PREFIX)
    if not receipt_id.startswith(PREFIX) or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise BadInput(
            f"'{receipt_id[:40]}' is not a receipt id.", hint="Ids look like r12; `foreword why` shows the last."
        )
    return int(digits)


def candidates_of(verdict: Verdict, injected: Iterable[int], left_out: Mapping[str, str]) -> list[dict[str, Any]]:
    shown = set(injected)
    rows = []
    for one in verdict.judged:
        memory = one.candidate.memory
        rows.append(
            {
                "row": memory.row,
                "id": memory.id,
                "confidence": one.confidence,
                "passed": one.passed,
                "injected": memory.row in shown,
                "reason": left_out.get(memory.id, one.reason) if one.passed else one.reason,
                "score": round(one.candidate.score, 4),
                "lanes": dict(one.candidate.lanes),
                "signals": dict(zip(_SIGNALS, _values_of(one.candidate.signals), strict=True)),
                "terms": list(one.candidate.terms),
                "link": asdict(one.candidate.link) if one.candidate.link else None,
                "tokens": memory.tokens,
                "successor": memory.successor,
            }
        )
    return rows


def avoided_tokens(candidates: Sequence[Mapping[str, Any]], pushed: int) -> int:
    """What the best few hits would have cost, had they been pushed unasked."""
    return sum(min(one["tokens"], _PUSHED_TOKENS) for one in candidates[:pushed] if not one["injected"])


def judged_again(receipt: Receipt) -> list[Candidate]:
    """The candidates of a receipt as the gate saw them; their texts are not needed, and not kept in receipts."""
    return [
        Candidate(
            Memory(
                text="",
                row=int(one["row"]),
                tokens=int(one.get("tokens", 0)),
                successor=int(one.get("successor", 0)),
            ),
            score=float(one["score"]),
            lanes=one["lanes"],
            signals=_signals(one["signals"]),
            terms=tuple(one["terms"]),
            link=Link(**one["link"]) if one.get("link") else None,
        )
        for one in receipt["candidates"]
    ]


def _signals(kept: Mapping[str, Any]) -> Signals:
    """Those of a receipt; one that is older than reading has none of it."""
    signals = Signals(**{name: value for name, value in kept.items() if name in _SIGNALS})
    return signals if "reading" in kept else signals.as_if_read()


@dataclass(frozen=True, slots=True)
class Replayed:
    """One past turn under other settings."""

    receipt: str
    ask: str
    before: Sequence[str]
    after: Sequence[str]
    reason: str
    feedback: str = ""

    @property
    def changed(self) -> bool:
        return set(self.before) != set(self.after)


def replayed(receipt: Receipt, verdict: Verdict, *, kept_out: Sequence[str], most: int) -> Replayed:
    """What a verdict under other settings would have given in this turn; what was left out for a reason that no
    setting of the gate changes stays out."""
    out = left_out(receipt, kept_out)
    chosen = [one for one in verdict.chosen if one.candidate.memory.id not in out]
    after = [] if all(one.by_link for one in chosen) else [one.candidate.memory.id for one in chosen]
    return Replayed(receipt["id"], receipt["ask"], given(receipt), after[:most], verdict.reason, receipt["feedback"])


def belongs(receipt: Receipt, agent: str, project: str) -> bool:
    """Whether somebody who speaks for this agent and project may see it; "" speaks for all. One that does not say its
    project may be of any."""
    of_agent = not agent or receipt["agent"] == agent
    return of_agent and (not project or receipt.get("project") in ("", project))


def given(receipt: Receipt) -> list[str]:
    return [one["id"] for one in receipt["candidates"] if one["injected"]]


def left_out(receipt: Receipt, reasons: Sequence[str]) -> set[str]:
    return {one["id"] for one in receipt["candidates"] if one["reason"] in reasons}


def check_feedback(receipt: Receipt, feedback: Feedback | None) -> None:
    """Raises BadInput when a turn cannot be what somebody calls it."""
    if feedback in (Feedback.GOOD, Feedback.NOISE) and not given(receipt):
        raise BadInput(
            f"Nothing was given in {receipt['id']}, so it cannot have been {feedback.value}.",
            hint=f"Use missed if something should have been; `foreword why {receipt['id']}` tells why it was silent.",
        )


def without_words(receipt: Receipt) -> None:
    """Take out of a receipt everything that was said in the ask."""
    receipt["ask"] = ""
    receipt.pop("time", None)
    for one in receipt["candidates"]:
        one["terms"] = []


def explain(receipt: Receipt, texts: Mapping[int, str]) -> str:
    """A receipt for people. `texts` gives the memories that still exist, by row."""
    when = datetime.fromtimestamp(receipt["at"]).strftime("%Y-%m-%d %H:%M:%S")
    lines = [
        f"{receipt['id']}  {when}  agent {receipt['agent'] or '-'}, session {receipt['session'] or '-'}"
        f" ({receipt['kind']}, {receipt['audience']})",
        f"ask       {receipt['ask'] or '(not kept)'}",
        f"answer    {_answer(receipt)}",
        f"because   {receipt['reason']}",
    ]
    if receipt.get("feedback"):
        lines.append(f"feedback  {receipt['feedback']}: {SAID[Feedback(receipt['feedback'])]}")
    if receipt.get("notes"):
        lines += [f"note      {note}" for note in receipt["notes"]]
    if receipt.get("time"):
        lines.append(f'time      the ask speaks of "{receipt["time"]}"')
    if receipt["candidates"]:
        limits = receipt["thresholds"]
        lines.append(
            f"gate      confident {limits['confident']:.2f}, floor {limits['floor']:.2f};"
            f" {receipt['in_scope']:,} {'memory' if receipt['in_scope'] == 1 else 'memories'} in scope"
        )
    for one in receipt["candidates"]:
        mark = "→" if one["injected"] else "·"
        text = " ".join(texts.get(one["row"], "(forgotten)").split())
        text = text if len(text) <= 90 else text[:88].rstrip() + " …"
        lanes = ", ".join(f"{name} {value:.2f}" for name, value in one["lanes"].items())
        lines.append(f"  {mark} {how_sure(one['confidence'])}  {one['id']:<6} {text}")
        lines.append(f"            {one['reason']}")
        lines.append(f"            {lanes}" + (f"; words: {', '.join(one['terms'])}" if one["terms"] else ""))
    steps = ", ".join(f"{name} {value:.1f}" for name, value in receipt["ms"].items())
    lines.append(f"took      {sum(receipt['ms'].values()):.1f} ms ({steps})")
    return "\n".join(lines)


def _answer(receipt: Receipt) -> str:
    count = sum(one["injected"] for one in receipt["candidates"])
    if count:
        return f"{count} {'memory' if count == 1 else 'memories'}, {receipt['tokens']} tokens"
    return f"silence, {receipt['avoided']} tokens spared" if receipt["avoided"] else "silence"
