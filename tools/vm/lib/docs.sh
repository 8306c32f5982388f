# SPDX-License-Identifier: GPL-2.0
# The pages as HTML: step `docs` is a small Debian with Sphinx. It is not part of the build root, since only `make docs`
# and `make check` need it.
#
# shellcheck shell=bash

DOCS_PACKAGES=(python3-sphinx)

text_docs() { echo "Sphinx, for the documentation"; }
mb_docs() { echo 600; }
secs_docs() { echo 120; }
key_docs() { { key_base; printf '%s\n' "${DOCS_PACKAGES[@]}" 1; } | short_hash; }
run_docs() { small_root "$2" '' "${DOCS_PACKAGES[@]}"; }

# docs_html DIR: writes the pages to DIR/html. A warning is an error. It needs the steps `docs` and `source`: the
# kernel's kernel-doc extracts the comments of ouro_drm.h.
docs_html() {
    local out=$1
    mkdir -p "$out"
    OURO_KERNEL_DOC="$(step_dir source)/linux/tools/docs/kernel-doc" root_run "$(step_dir docs)/tree" \
        sphinx-build -q -W --keep-going -n -b html -d "$out/doctrees" -c "$OURO_TOP/Documentation" \
        "$OURO_TOP/Documentation/gpu/ouro" "$out/html"
}
