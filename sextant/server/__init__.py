"""Sextant over HTTP: answers, searches, documents and graphs for many users at once."""
