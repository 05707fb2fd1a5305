"""Foreword put into a host and taken out of it again: one installer for each."""

from __future__ import annotations

from foreword.hosts.install.check import Check
from foreword.hosts.install.claude_code import ClaudeCode
from foreword.hosts.install.codex import Codex
from foreword.hosts.install.gemini import Gemini
from foreword.hosts.install.installer import Installer, Owners, Wanted
from foreword.hosts.install.openclaw import OpenClaw

INSTALLERS: dict[str, Installer] = {one.name: one for one in (OpenClaw(), ClaudeCode(), Codex(), Gemini())}

__all__ = ["INSTALLERS", "Check", "Installer", "Owners", "Wanted"]
