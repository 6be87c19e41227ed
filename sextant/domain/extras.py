"""How an optional part of Sextant is installed, for messages that miss one."""

from __future__ import annotations


def install_extra(name: str) -> str:
    """Return what to run for the extra of this name."""
    return (
        f"Run `.venv/bin/python -m pip install -c constraints.txt -e '.[{name}]'` in the checkout."
    )
