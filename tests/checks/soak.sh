#!/bin/sh
# soak.sh [N [SECONDS]] -- N requests to incipit serve, with all faults at once, for SECONDS at most; soak.py says what is looked at.
set -eu
build=${BUILD:-build}
python=${PYTHON:-python3}
command -v "$python" > /dev/null || { echo "NOT RUN: the soak of the server, for there is no python3"; exit 77; }
! "$build/incipit" serve -m /nowhere 2>&1 | grep -q 'without libmicrohttpd' || { echo "NOT RUN: the soak of the server, for this program has no server"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 "$python" tests/checks/soak.py "$build/incipit" "${1:-1500}" "${2:-30}"
