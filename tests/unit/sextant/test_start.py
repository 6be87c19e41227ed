"""A command starts without what its answer does not use."""

from __future__ import annotations

import subprocess
import sys


def test_answering_imports_neither_a_client_of_models_nor_a_dictionary() -> None:
    code = (
        "import sys, sextant.graph.streaming, sextant.graph.workflow\n"
        "print(*{'rjieba', 'openai', 'sextant.graph.workflow'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["sextant.graph.workflow"]
