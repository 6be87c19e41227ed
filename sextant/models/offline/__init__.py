"""Answers without a model: sentences and rows of what was retrieved, chosen by words and meaning."""
