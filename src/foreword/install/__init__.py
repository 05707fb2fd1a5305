"""Foreword put into a host and taken out of it again: one installer for each."""

from __future__ import annotations

from foreword.install.check import Check
from foreword.install.claude_code import ClaudeCode
from foreword.install.codex import Codex
from foreword.install.gemini import Gemini
from foreword.install.installation import Change, Edit, Installation
from foreword.install.installer import Installer, Owners, Wanted
from foreword.install.openclaw import OpenClaw
from foreword.install.opencode import OpenCode

INSTALLERS: dict[str, Installer] = {one.name: one for one in (OpenClaw(), OpenCode(), ClaudeCode(), Codex(), Gemini())}

__all__ = ["INSTALLERS", "Change", "Check", "Edit", "Installation", "Installer", "Owners", "Wanted"]
