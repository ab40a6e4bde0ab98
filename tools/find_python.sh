#!/bin/sh
# Print the first Python that can make our environment: $PYTHON if set, else the usual names.
# It must be 3.11 or newer and have venv with ensurepip.
suits() {
    "$1" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); import ensurepip, venv' >/dev/null 2>&1
}

if [ -n "${PYTHON:-}" ]; then
    suits "$PYTHON" && { echo "$PYTHON"; exit 0; }
    tried="PYTHON=$PYTHON"
else
    tried="python3 python3.14 python3.13 python3.12 python3.11 python"
    for name in $tried; do
        suits "$name" && { command -v "$name"; exit 0; }
    done
fi

cat >&2 <<END
No suitable Python found (looked at: $tried).
Upcard needs Python 3.11 or newer with the venv module; on Debian and Ubuntu that is the packages
python3 and python3-venv. If yours has another name: make setup PYTHON=/path/to/python3.12
END
exit 1
