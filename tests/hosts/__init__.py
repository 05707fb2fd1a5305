"""The real hosts, each against a scripted model server that remembers what it was sent."""
