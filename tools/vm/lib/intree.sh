# SPDX-License-Identifier: GPL-2.0
# The driver in a kernel tree: its files there, and the new lines of existing files of the kernel.
#
# shellcheck shell=bash

# Folders of the kernel tree with our files only.
INTREE_OURS="drivers/gpu/drm/ouro tools/testing/selftests/drm/ouro Documentation/gpu/ouro rust/bitfield-struct rust/static_assertions"
# Files of the kernel that get new lines.
INTREE_EDITED="drivers/gpu/drm/Kconfig drivers/gpu/drm/Makefile rust/Makefile MAINTAINERS Documentation/gpu/drivers.rst
    tools/testing/selftests/Makefile"

# intree_fits TREE: ends the script unless it is the kernel series that the driver is written for.
intree_fits() {
    local tree=$1 version file
    [ -d "$tree" ] || die "no such folder: $tree"
    [ -e "$tree/MAINTAINERS" ] && [ -e "$tree/Kbuild" ] || die "it is no kernel source: $tree"
    version=$(awk '$2 == "=" && ($1 == "VERSION" || $1 == "PATCHLEVEL") {printf "%s%s", dot, $3; dot = "."}' "$tree/Makefile")
    [ "$version" = "$KERNEL_SERIES" ] || die "$tree is Linux $version; the driver is written for $KERNEL_SERIES"
    for file in $INTREE_EDITED rust/syn/gen/debug.rs; do
        [ -e "$tree/$file" ] || die "$tree has no $file"
    done
    [ -w "$tree/drivers/gpu/drm" ] || die "$tree cannot be written to"
}

# intree_sources FOLDER: prints its files for a kernel tree, without build outputs and without Cargo's files: manifest,
# README, examples and licences of the crate ouro_hw.
intree_sources() {
    (cd "$OURO_TOP/$1" && find . -type f \( -name '*.rs' -o -name '*.[ch]' -o -name '*.rst' -o -name '*.csv' -o -name '*.png' \
        -o -name '*.svg' -o -name Makefile -o -name Kconfig -o -name .kunitconfig -o -name config -o -name settings \) \
        ! -name '*_generated.*' ! -name '*.mod.c' ! -path './hw/examples/*' | sed 's|^\./||' | LC_ALL=C sort)
}

# intree_put FILE PLACE: copies the file if it differs, since a build depends on file times.
intree_put() {
    cmp -s "$1" "$2" || install -D -m 644 "$1" "$2"
}

# intree_folder FROM STAGE TO
intree_folder() {
    local file
    while IFS= read -r file; do install -D -m 644 "$OURO_TOP/$1/$file" "$2/$3/$file"; done < <(intree_sources "$1")
}

# intree_crate LIB.RS STAGE TO: copies a third-party crate, with the SPDX line that each file of the kernel begins with
# and no other change.
intree_crate() {
    local dir file licence
    dir=$(dirname "$(dirname "$1")")
    licence=$(sed -n 's/^license = "\(.*\)"$/\1/p' "$dir/Cargo.toml")
    [ -n "$licence" ] || die "$dir/Cargo.toml names no licence"
    mkdir -p "$2/$3/src"
    for file in "$dir"/src/*.rs; do
        { echo "// SPDX-License-Identifier: $licence"; echo; cat "$file"; } >"$2/$3/src/${file##*/}"
    done
    cp "$dir/README.md" "$dir"/LICENSE* "$2/$3/"
    chmod -R u+w "$2/$3"
}

# intree_expectations STAGE: writes the expected results of IGT in the form of drm-ci: DRIVER-CHIP-fails.txt has the failing
# tests, -skips.txt regular expressions for tests not to be run: features that the chip lacks, and tests that crash the
# machine. No test has varying results, so there is no -flakes.txt.
intree_expectations() {
    local file gpu to=$1/drivers/gpu/drm/ci/xfails
    mkdir -p "$to"
    for file in "$OURO_TOP"/tools/testing/igt/expected-*; do
        gpu=${file##*-}
        awk -v gpu="$gpu" -v fails="$to/ouro-$gpu-fails.txt" -v skips="$to/ouro-$gpu-skips.txt" '
            BEGIN {
                result["FAIL"] = "Fail"; result["TIMEOUT"] = "Timeout"; result["CRASH"] = "Crash"
                head = "# The modelled " gpu ". Made by make intree from tools/testing/igt/expected-" gpu " of the ouro project."
                print head > fails; print head > skips
            }
            /^#/ || NF < 3 { next }
            { reason = $0; sub(/^[^ \t]+[ \t]+[^ \t]+[ \t]+/, "", reason) }
            reason !~ /^the same/ && reason != said { said = reason; fresh_fails = fresh_skips = 1 }
            $1 in result {
                if (fresh_fails) print "\n# " said > fails
                fresh_fails = 0
                print $2 "," result[$1] > fails
                next
            }
            $1 == "SKIP" || $1 == "DIED" {
                if (fresh_skips) print "\n# " said > skips
                fresh_skips = 0
                if (sub(/\*$/, ".*", $2)) print "^" $2 > skips
                else print "^" $2 "$" > skips
                next
            }
            { print FILENAME ": " $1 "?" > "/dev/stderr"; exit 1 }' "$file" || die "not as expected: $file"
    done
}

# intree_stage STAGE RUNNER...: writes all our files to STAGE, with their paths in a kernel tree.
intree_stage() {
    local stage=$1 file
    shift
    intree_folder drivers/gpu/drm/ouro "$stage" drivers/gpu/drm/ouro
    intree_folder rust/ouro_kernel "$stage" drivers/gpu/drm/ouro/ouro_kernel
    intree_folder rust/ouro_uapi "$stage" drivers/gpu/drm/ouro/ouro_uapi
    intree_folder tools/testing/selftests/drm/ouro "$stage" tools/testing/selftests/drm/ouro
    intree_folder Documentation/gpu/ouro "$stage" Documentation/gpu/ouro
    for file in include/uapi/drm/ouro_drm.h Documentation/ABI/testing/{debugfs-driver,sysfs-driver,sysfs-module}-ouro; do
        install -D -m 644 "$OURO_TOP/$file" "$stage/$file"
    done
    crate_sources "$@"
    intree_crate "$BITFIELD_SRC" "$stage" rust/bitfield-struct
    intree_crate "$SA_SRC" "$stage" rust/static_assertions
    intree_expectations "$stage"
}

# intree_edit TREE FILE COMMAND...: filters the file by the command, and writes it only if it differs.
intree_edit() {
    local tree=$1 file=$2 new
    shift 2
    new=$(mktemp)
    "$@" <"$tree/$file" >"$new"
    grep -q ouro "$new" || die "$tree/$file has no place for ouro: nothing there is as in Linux $KERNEL_SERIES"
    cmp -s "$new" "$tree/$file" || { cat "$new" >"$tree/$file"; echo "$file"; }
    rm -f "$new"
}

# line_after PATTERN LINE: filter that has LINE after the first line with PATTERN, and nowhere else.
line_after() {
    awk -v pattern="$1" -v line="$2" '
        $0 == line { next }
        { print }
        !done && $0 ~ pattern { print line; done = 1 }'
}

# rust_block: filter that adds intree-rust.mk before the last line of rust/Makefile, and the feature of syn that bitfield-struct needs.
rust_block() {
    awk -v block="$VM_DIR/kernel/intree-rust.mk" '
        /^# Crates that drivers\/gpu\/drm\/ouro uses/ { skip = 1 }
        /^    feature="extra-traits"/ { next }
        !skip {
            if ($0 == "endif # CONFIG_RUST") {
                while ((getline text < block) > 0) if (text ~ /^# Crates/ || on) { on = 1; print text }
                print ""
            }
            print
            if ($0 ~ /^ *feature="derive"/) print "    feature=\"extra-traits\" \\"
        }
        # and the blank line after it
        skip && $0 == "" && ended { skip = 0 }
        /^# End of the crates that drivers\/gpu\/drm\/ouro uses/ { ended = 1 }'
}

# maintainers_entry: filter that adds our entry in alphabetical order, and removes an older one.
maintainers_entry() {
    LC_ALL=C awk -v entry="$OURO_TOP/MAINTAINERS" '
        BEGIN { while ((getline line < entry) > 0) { if (title == "") title = line; text = text line "\n" } }
        # a section begins after a blank line, and its second line is a letter and a colon
        function flush() {
            if (n == 0) return
            if (n > 1 && row[2] ~ /^[A-Z]:\t/) {
                if (row[1] == title) { n = 0; return }
                if (!done && toupper(row[1]) > toupper(title)) { print text; done = 1 }
            }
            for (i = 1; i <= n; i++) print row[i]
            n = 0
        }
        { row[++n] = $0 }
        $0 == "" { flush() }
        END { flush() }'
}

# intree_edits TREE: edits the kernel's files, and prints the names of those that were written.
intree_edits() {
    intree_edit "$1" drivers/gpu/drm/Kconfig line_after '^source "drivers/gpu/drm/omapdrm/Kconfig"' 'source "drivers/gpu/drm/ouro/Kconfig"'
    intree_edit "$1" drivers/gpu/drm/Makefile line_after '^obj-.*CONFIG_DRM_TYR' 'obj-$(CONFIG_DRM_OURO) += ouro/'
    intree_edit "$1" Documentation/gpu/drivers.rst line_after '^   nova/index' '   ouro/index'
    intree_edit "$1" tools/testing/selftests/Makefile line_after '^TARGETS [+]= drivers/platform' 'TARGETS += drm/ouro'
    intree_edit "$1" rust/Makefile rust_block
    intree_edit "$1" MAINTAINERS maintainers_entry
}

# intree_drop TREE RUNNER...: copies the driver into the tree, and prints the written files, one per line.
intree_drop() {
    local tree=$1 stage dir file
    shift
    stage=$(mktemp -d)
    intree_stage "$stage" "$@"
    # files of an older driver; not the outputs of a build
    for dir in $INTREE_OURS; do
        [ -d "$tree/$dir" ] || continue
        (cd "$tree" && find "$dir" -type f \( -name '*.rs' -o -name '*.[ch]' -o -name '*.rst' \) ! -name '*_generated.*' \
            ! -name '*.mod.c') | while IFS= read -r file; do
            [ -e "$stage/$file" ] || { rm "$tree/$file"; echo "$file (gone)"; }
        done
    done
    (cd "$stage" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) | while IFS= read -r file; do
        cmp -s "$stage/$file" "$tree/$file" || { intree_put "$stage/$file" "$tree/$file"; echo "$file"; }
    done
    rm -rf "$stage"
    intree_edits "$tree"
}
