"""Makes what the project ships but does not write by hand."""
