"""The words of the system: plain data, errors, settings, and what words do in Chinese and English.

Imports nothing of ours.
"""
