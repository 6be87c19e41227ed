"""`python -m sextant`: the command line, also where a console script cannot be (paths with spaces)."""

from sextant.cli import main

main()
