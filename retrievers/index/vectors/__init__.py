"""The vectors of passages in fewer bits, and what else a question's vector is compared with."""
