#!/bin/sh
# Finds the Chromium that the tests of the web page drive; installs Debian's where nobody need be asked.
set -eu

found() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if [ -z "${SEXTANT_CHROMIUM:-}" ] && ! found >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing Chromium for the tests of the web page (once; about 100 MB)"
        apt-get update -qq || true
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null || true
    fi
    if ! found >/dev/null 2>&1; then
        echo "The tests of the web page run in a real browser. Install one: sudo apt-get install chromium" >&2
        echo "Or name yours: SEXTANT_CHROMIUM=/path/to/chrome" >&2
        exit 1
    fi
fi
