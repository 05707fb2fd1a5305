"""A real OpenClaw gateway with the real plugin and a real daemon."""
