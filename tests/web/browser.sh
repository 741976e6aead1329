#!/usr/bin/env bash
# The lab used in a real browser: Debian's chromium, driven by playwright.
# Installs both where they are missing; the project's environment is left as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}

found() { command -v chromium || command -v chromium-browser; }
if ! found >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true
fi
if ! found >/dev/null; then
  echo "chromium is missing and cannot be installed here: the browser tests are left out"
  exit 0
fi

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
if ! "$python" -c 'import playwright' 2>/dev/null; then
  "$python" -m pip install --quiet --disable-pip-version-check --target "$tools" \
    --constraint constraints.txt playwright
fi
# axe-core looks for what those who do not see or point would miss.
if command -v npm >/dev/null && (cd "$tools" && npm pack --silent axe-core@4 && tar xzf axe-core-*.tgz) >/dev/null 2>&1; then
  export AXE="$tools/package/axe.min.js"
else
  echo "axe-core is missing and cannot be fetched here: its tests are left out"
fi
OMP_NUM_THREADS=1 PYTHONPATH="$tools${PYTHONPATH:+:$PYTHONPATH}" \
  timeout 900 "$python" -m pytest -q -p no:cacheprovider \
  tests/web/test_browser*.py "$@"
