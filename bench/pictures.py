"""The numbers as pictures for people: `roc.png`, `reliability.png`, `recall_by_type.png`. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.gate import Bin, Measured, Roc
from bench.rivals import NAMES, SIGNALS

_SETS = {"longmemeval": "LongMemEval", "locomo": "LoCoMo"}
# Foreword in a strong blue, rivals in tones that stay apart for colour-blind readers and in grey print.
_FOREWORD = "#1f4e9c"
_RIVALS = ("#e08e0b", "#2a9d8f", "#b5446e", "#8a8a8a", "#c9b458")
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
    quick = next((f" · quick look, limit {result['limit']}" for result in results.values() if "limit" in result), "")
    with matplotlib.rc_context(look):
        if "quality" in results:
            written.append(_save(_recall_by_type(results["quality"], quick), out / "recall_by_type.png"))
        if measured and measured.rocs:
            written.append(_save(_roc(measured.rocs, quick), out / "roc.png"))
        if measured and measured.bins:
            written.append(_save(_reliability(measured.bins, measured.result["ece"], quick), out / "reliability.png"))
    return written


def _save(figure: Figure, file: Path) -> Path:
    figure.savefig(file, dpi=130, facecolor="white")
    return file


def _roc(rocs: Mapping[str, Mapping[str, Roc]], quick: str) -> Figure:
    figure = Figure(figsize=(6.4 * len(rocs), 6.2), layout="constrained")
    figure.suptitle(f"Does this history answer the question? Own against foreign questions{quick}")
    axes: list[Axes] = figure.subplots(1, len(rocs), squeeze=False)[0].tolist()
    for ax, (name, curves) in zip(axes, rocs.items(), strict=True):
        for place, (signal, curve) in enumerate(curves.items()):
            mine = signal == "foreword"
            label = "Foreword" if mine else SIGNALS[signal]
            ax.plot(
                100 * curve.false_alarms,
                100 * curve.recall,
                color=_FOREWORD if mine else _RIVALS[place - 1],
                linewidth=2.8 if mine else 1.5,
                zorder=3 if mine else 2,
                label=f"{label}, AUROC {curve.auroc:.3f}",
            )
        for bar in (5, 10):
            ax.axvline(bar, color="#999999", linewidth=0.9, linestyle=":")
            ax.annotate(f"{bar} %", (bar, 1), xytext=(3, 0), textcoords="offset points", color="#666666", fontsize=9)
        ax.plot((0, 100), (0, 100), color="#bbbbbb", linewidth=1, linestyle="--", label="chance")
        ax.set(
            title=_SETS.get(name, name),
            xlabel="foreign questions let through, % (false alarms)",
            ylabel="own questions let through, % (recall)",
            xlim=(0, 100),
            ylim=(0, 101),
            aspect="equal",
        )
        ax.grid(color=_GRID, linewidth=0.6)
        ax.legend(loc="lower right", fontsize=10)
    return figure


def _reliability(bins: Sequence[Bin], error: float, quick: str) -> Figure:
    figure = Figure(figsize=(6.8, 7.4), layout="constrained")
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
        label="the candidate that decides",
    )
    upper.set(
        title=f"Reliability of the confidence, expected calibration error {error:.3f}{quick}",
        ylabel="share that was of an evidence session",
        xlim=(0, 1),
        ylim=(-0.02, 1.02),
    )
    upper.title.set_fontsize(11)
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
        figure.suptitle(quick.removeprefix(" · "))
    axes: list[Axes] = figure.subplots(len(panels), 1, squeeze=False)[:, 0].tolist()
    for ax, (name, title, groups, overall) in zip(axes, panels, strict=True):
        rows = {"Foreword": result[name]} | {
            NAMES[rival]: row for rival, row in result.get("compared", {}).get(name, {}).items()
        }
        kinds = list(result[name][groups])
        width = 0.82 / len(rows)
        for place, (label, row) in enumerate(rows.items()):
            heights = [row[overall], *(row[groups][kind] for kind in kinds)]
            bars = ax.bar(
                [x + (place - (len(rows) - 1) / 2) * width for x in range(len(heights))],
                heights,
                width=width,
                color=_FOREWORD if place == 0 else _RIVALS[place - 1],
                label=label,
                edgecolor="white",
                linewidth=0.6,
            )
            if place == 0:
                ax.bar_label(bars, fmt="%.0f", fontsize=9, fontweight="bold", color=_FOREWORD, padding=1)
        ax.set(title=f"{title} (n = {result[name]['n']})", ylabel="recall, %", ylim=(0, 106))
        names = [kind.replace("single-session-", "single-session\n") for kind in kinds]
        ax.set_xticks(range(len(names) + 1), ["all questions", *names])
        ax.axvline(0.5, color="#bbbbbb", linewidth=0.9)
        ax.grid(axis="y", color=_GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=10)
    return figure
