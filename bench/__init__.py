"""The numbers in the README, each by one command."""
