"""Commands over knowledge bases and what lies in them: documents in, out, listed, deleted."""
