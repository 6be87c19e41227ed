"""Lanes: the independent ways of finding something; a mode is a composition of them."""
