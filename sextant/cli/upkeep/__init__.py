"""Commands that keep an installation well: copies, new vectors, the doctor, settings."""
