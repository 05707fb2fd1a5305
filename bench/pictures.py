"""The numbers as pictures for people: `roc.png`, `reliability.png`, `recall_by_type.png`. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.gate import Bin, Measured, Roc, expected_error
from bench.rivals import NAMES, SIGNALS

_SETS = {"longmemeval": "LongMemEval", "locomo": "LoCoMo"}
# Foreword in a strong blue, rivals in tones that stay apart for colour-blind readers and in grey print.
_FOREWORD = "#1f4e9c"
_RIVALS = dict(zip(NAMES, ("#e08e0b", "#c9b458", "#2a9d8f", "#b5446e", "#8a8a8a"), strict=True))
_SIGNALS = dict(zip(SIGNALS, ("#e08e0b", "#2a9d8f", "#b5446e", "#8a8a8a"), strict=True))
_GRID = "#dddddd"


def draw(results: Mapping[str, Mapping[str, Any]], measured: Measured | None, out: Path) -> list[Path]:
    """Draws what was measured into `out`; the files it wrote."""
    written = []
    look: Any = {
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "legend.frameon": False,
    }
    quick = next((f"A quick look, limit {result['limit']}" for result in results.values() if "limit" in result), "")
    with matplotlib.rc_context(look):
        if any(name in results.get("quality", {}) for name in _SETS):
            written.append(_save(_recall_by_type(results["quality"], quick), out / "recall_by_type.png"))
        if measured and measured.rocs:
            written.append(_save(_roc(measured.rocs, quick), out / "roc.png"))
        if measured and measured.bins:
            written.append(_save(_reliability(measured, quick), out / "reliability.png"))
    return written


def _save(figure: Figure, file: Path) -> Path:
    figure.savefig(file, dpi=130, facecolor="white")
    return file


def _roc(rocs: Mapping[str, Mapping[str, Roc]], quick: str) -> Figure:
    figure = Figure(figsize=(6.4 * len(rocs), 6.2), layout="constrained")
    title = "Does this history answer the question? Own against foreign questions"
    figure.suptitle(f"{title}\n{quick}" if quick else title)
    axes: list[Axes] = figure.subplots(1, len(rocs), squeeze=False)[0].tolist()
    for ax, (name, curves) in zip(axes, rocs.items(), strict=True):
        for signal, curve in curves.items():
            mine = signal == "foreword"
            label = "Foreword" if mine else SIGNALS[signal]
            ax.plot(
                100 * curve.false_alarms,
                100 * curve.recall,
                color=_FOREWORD if mine else _SIGNALS[signal],
                linewidth=2.8 if mine else 1.5,
                zorder=3 if mine else 2,
                label=f"{label}, AUROC {curve.auroc:.3f}",
            )
        for bar in (5, 10):
            ax.axvline(bar, color="#999999", linewidth=0.9, linestyle=":")
        ax.plot((0, 100), (0, 100), color="#bbbbbb", linewidth=1, linestyle="--", label="chance")
        ax.set(
            title=_SETS.get(name, name),
            xlabel="foreign questions let through, % (false alarms)",
            ylabel="own questions let through, % (recall)",
            xlim=(0, 100),
            ylim=(0, 101),
            xticks=(0, 5, 10, 20, 40, 60, 80, 100),
            aspect="equal",
        )
        ax.grid(color=_GRID, linewidth=0.6)
        ax.legend(loc="lower right", fontsize=10)
    return figure


def _reliability(measured: Measured, quick: str) -> Figure:
    bins = measured.bins
    figure = Figure(figsize=(6.8, 7.4), layout="constrained")
    if quick:
        figure.suptitle(quick)
    upper, lower = figure.subplots(2, 1, height_ratios=(3.2, 1), sharex=True)
    upper.plot((0, 1), (0, 1), color="#999999", linestyle="--", linewidth=1.2, label="as sure as right")
    upper.vlines(
        [one.sure for one in bins],
        [min(one.sure, one.right) for one in bins],
        [max(one.sure, one.right) for one in bins],
        color="#d1495b",
        linewidth=2,
        label="gap",
    )
    upper.plot(
        [one.sure for one in bins],
        [one.right for one in bins],
        color=_FOREWORD,
        marker="o",
        markersize=7,
        linewidth=2,
        label=_labelled("all asks", bins),
    )
    if len(measured.bins_by_set) > 1:
        for color, (name, some) in zip(("#e08e0b", "#2a9d8f"), measured.bins_by_set.items(), strict=False):
            upper.plot(
                [one.sure for one in some],
                [one.right for one in some],
                color=color,
                marker=".",
                linewidth=1,
                label=_labelled(_SETS.get(name, name), some),
            )
    upper.set(
        title="How often the candidate that decides is right",
        ylabel="share that was of an evidence session",
        xlim=(0, 1),
        ylim=(-0.02, 1.02),
    )
    upper.grid(color=_GRID, linewidth=0.6)
    upper.legend(loc="upper left")
    lower.bar(
        [one.low for one in bins],
        [100 * one.weight for one in bins],
        width=[one.high - one.low for one in bins],
        align="edge",
        color=_FOREWORD,
        alpha=0.55,
        edgecolor="white",
    )
    lower.set(xlabel="confidence", ylabel="share of asks, %", xticks=np.linspace(0, 1, 11).tolist())
    lower.grid(axis="y", color=_GRID, linewidth=0.6)
    return figure


def _labelled(name: str, bins: Sequence[Bin]) -> str:
    return f"{name}, calibration error {expected_error(bins):.3f}"


def _recall_by_type(result: Mapping[str, Any], quick: str) -> Figure:
    panels = [
        (name, title, groups, overall)
        for name, title, groups, overall in (
            ("longmemeval", "LongMemEval: all evidence sessions among the first 5", "by_type", "recall_all@5"),
            ("locomo", "LoCoMo: evidence turns among the first 10", "by_category", "turn_recall@10"),
        )
        if name in result
    ]
    figure = Figure(figsize=(12.5, 4.9 * len(panels)), layout="constrained")
    if quick:
        figure.suptitle(quick)
    axes: list[Axes] = figure.subplots(len(panels), 1, squeeze=False)[:, 0].tolist()
    for ax, (name, title, groups, overall) in zip(axes, panels, strict=True):
        rows = {"": result[name], **result.get("compared", {}).get(name, {})}
        kinds = list(result[name][groups])
        width = 0.82 / len(rows)
        for place, (rival, row) in enumerate(rows.items()):
            heights = [row[overall], *(row[groups][kind] for kind in kinds)]
            bars = ax.bar(
                [x + (place - (len(rows) - 1) / 2) * width for x in range(len(heights))],
                heights,
                width=width,
                color=_RIVALS[rival] if rival else _FOREWORD,
                label=NAMES[rival] if rival else "Foreword",
                edgecolor="white",
                linewidth=0.6,
            )
            if not rival:
                ax.bar_label(bars, fmt="%.0f", fontsize=9, fontweight="bold", color=_FOREWORD, padding=1)
        ax.set(title=f"{title} (n = {result[name]['n']})", ylabel="recall, %", ylim=(0, 106))
        names = ["-\n".join(kind.rsplit("-", 1)) if len(kind) > 12 else kind for kind in kinds]
        ax.set_xticks(range(len(names) + 1), ["all questions", *names])
        ax.axvline(0.5, color="#bbbbbb", linewidth=0.9)
        ax.grid(axis="y", color=_GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=10)
    return figure
