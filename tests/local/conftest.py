"""These tests run real models of sentence-transformers; `make local` installs what they need (.cache/local)."""

from __future__ import annotations

import importlib.util

# Run by themselves they fail where the extra is missing ("no tests ran"), instead of passing by being skipped.
if importlib.util.find_spec("sentence_transformers") is None:
    collect_ignore_glob = ["test_*.py"]
