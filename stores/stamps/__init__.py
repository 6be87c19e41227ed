"""Stamps: what tells whether something kept in memory is still so."""
