"""The facade and the command line."""
