"""The words of the system: plain data, errors, settings. Imports nothing of ours."""
