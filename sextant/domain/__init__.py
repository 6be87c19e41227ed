"""The data that crosses boundaries: errors, settings, questions, answers, documents. Imports only text and tables."""
