#!/bin/sh
# Makes .venv in the current folder and installs Sextant into it, with the extras named as arguments.
# Runs on a bare Debian or Ubuntu: finds a Python >= 3.11 and says what to install when a piece is missing.
set -eu

python=""
for candidate in ${PYTHON:-python3} python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python="$candidate"
        break
    fi
done
if [ -z "$python" ]; then
    echo "Sextant needs Python 3.11 or newer. Install it: sudo apt install python3 python3-venv" >&2
    exit 1
fi

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    # Debian ships venv apart from Python; virtualenv does as well where it is there.
    if ! "$python" -m venv .venv >/dev/null 2>&1 && ! "$python" -m virtualenv -q .venv 2>/dev/null; then
        rm -rf .venv
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        echo "Python cannot make a virtual environment. Install its part: sudo apt install python$version-venv" >&2
        exit 1
    fi
fi

extras=$(echo "$*" | tr ' ' ',')
echo "Installing Sextant${extras:+ [$extras]} into .venv (once; 560 to 740 MB)"
.venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
    --constraint constraints.txt --editable ".${extras:+[$extras]}"
# Compile what ingesting and asking import (5 s of CPU), so that the first question does not wait for it;
# where PYTHONDONTWRITEBYTECODE is set, every question would.
PYTHONDONTWRITEBYTECODE="" .venv/bin/python -c "
import sextant.graph.streaming, sextant.ingestion.pipeline, sextant.ingestion.graph.index, sextant.ingestion.graph.upkeep, sextant.ingestion.parsing.host
import sextant.models.embedding.e5.encoder, sextant.models.embedding.packaged, rjieba, sextant.cli.ask, sextant.facade"
