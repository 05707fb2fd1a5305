"""How the demo looks: a turn as a person would read it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from foreword.cli.demo.scenes import Scene
from foreword.cli.screen import Screen, columns, cut, printable
from foreword.model import Brief, Memory, how_sure

_WIDEST = 96
_SHOWN_CANDIDATES = 2
# Beside the best, a candidate that nobody would take for an answer only fills the screen.
_WORTH_SHOWING = 0.05


class Stage:
    """Prints; in JSON mode it stays dark."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._width = min(screen.width, _WIDEST)

    def say(self, text: str = "", *styles: str) -> None:
        if not self._screen.as_json:
            for line in textwrap.wrap(text, self._width - 2) or [""]:
                self._screen.write(f"  {self._screen.paint(line, *styles)}" if line else "")

    def heading(self, text: str) -> None:
        if not self._screen.as_json:
            rule = "─" * max(self._width - columns(text) - 5, 3)
            paint = self._screen.paint
            self._screen.write(f"\n{paint('──', 'dim')} {paint(text, 'bold', 'cyan')} {paint(rule, 'dim')}")

    def turn(
        self, number: int, scene: Scene, brief: Brief, receipt: dict[str, Any], memories: Sequence[Memory], kept: int
    ) -> None:
        """`memories` are the receipt's candidates in full, `kept` is how many memories there are in all."""
        self.heading(f"{number}  {scene.title}")
        self.say(f"{scene.who}  ·  {scene.ask.session}", "dim")
        self.say(f"“{scene.ask.text}”", "bold")
        if brief:
            self.box(f"given to the model · {brief.tokens} tokens", brief.text, "green")
        else:
            self.say("given to the model: nothing", "yellow")
        self._row("because", brief.reason)
        if receipt["in_scope"]:
            self._row("scope", f"{receipt['in_scope']} of {kept} memories may be seen from here")
        if receipt.get("time"):
            self._row("time", f"the question speaks of “{receipt['time']}”")
        texts = {memory.id: memory.text for memory in memories}
        best, *others = receipt["candidates"][:_SHOWN_CANDIDATES] or [None]
        for one in [best, *(one for one in others if one["confidence"] >= _WORTH_SHOWING)] if best else []:
            mark = self._screen.paint("→", "green") if one["injected"] else self._screen.paint("·", "dim")
            text = cut(texts.get(one["id"], ""), self._width - 24)
            self._row("", f"{mark} {how_sure(one['confidence'])}  {text}", painted=True)
            self._row("", f"        {one['reason']}", "dim")

    def verdict(self, problem: str, shows: str) -> None:
        if problem:
            self.say(f"✗ {problem}", "red", "bold")
        else:
            self.say(f"✓ {shows}", "green")

    def box(self, title: str, text: str, style: str) -> None:
        if self._screen.as_json:
            return
        inner = self._width - 6
        paint = self._screen.paint
        self._screen.write(paint(f"  ┌─ {title} {'─' * max(inner - columns(title) - 1, 1)}┐", style))
        for line in printable(text).splitlines():
            for part in textwrap.wrap(line, inner, subsequent_indent=" " * 6) or [""]:
                edge = paint("│", style)
                self._screen.write(f"  {edge} {part}{' ' * (inner - columns(part))} {edge}")
        self._screen.write(paint(f"  └{'─' * (inner + 2)}┘", style))

    def _row(self, name: str, text: str, *styles: str, painted: bool = False) -> None:
        if not self._screen.as_json:
            body = text if painted else self._screen.paint(text, *styles)
            self._screen.write(f"  {self._screen.paint(f'{name:<8}', 'dim')}  {body}")
