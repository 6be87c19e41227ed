"""Measuring retrieval and answers on question sets with known passages (`sextant eval`)."""
