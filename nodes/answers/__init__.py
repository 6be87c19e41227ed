"""Answers in the making: what is shown to the model, what is written, what is revised or quoted."""
