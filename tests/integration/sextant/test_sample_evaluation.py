"""The sample of an evaluation by one's own questions passes as it is, without a chat model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.own_database import short_folder

ROOT = Path(__file__).parents[3]
OURS = ("SEXTANT_", "OPENAI_", "DATABASE_URL", "NEO4J_", "PYTEST_")


def test_the_sample_questions_are_answered_as_they_expect() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    sample = ROOT / "samples" / "evaluation" / "test_questions.py"
    with short_folder() as folder:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(sample)],
            env={**kept, "SEXTANT_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout
