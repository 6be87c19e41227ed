"""Stamps: whether what is kept in memory still agrees with the database."""
