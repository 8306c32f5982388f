# SPDX-License-Identifier: GPL-2.0
# make run SCENE=gl: a picture by OpenGL, through Debian's Mesa, compared with that of Mesa's software
# renderer in the same guest.
#
# shellcheck shell=bash

# The values of --scene. Without it the picture is that of ouro-draw.
SCENES=gl
SCENE_SIZE="640 480"

# scene_known SCENE GPU: ends the script if the GPU has no such scene, before the set-up starts.
scene_known() {
    case " $SCENES " in *" $1 "*) ;; *) die "no such scene: $1" "known: $SCENES" ;; esac
    case " $(mesa_words "$2") " in
        *" draws "*) ;;
        *) die "the model of $2 does not draw in 3D" "SCENE=gl is for GPU=rv515, rv530, r520 or r580" ;;
    esac
}

# scene_gl GPU KERNEL OUT: runs the guest, writes both pictures and their differences as PNG, and
# prints the comparison and the result.
scene_gl() {
    local gpu=$1 kernel=$2 out=$3 words good=yes
    words=$(mesa_words "$gpu")
    # shellcheck disable=SC2086 # two numbers
    "$VM_DIR/guest" --gpu "$gpu" --kernel "$kernel" --out "$out" --timeout 700 --memory 1G \
        --module-args "$MESA_PATIENCE" \
        --root "$(clients_tree mesa)" --tests "$MESA_BIN" --add "$VM_DIR/guest-tests/run-picture.sh" \
        -- sh /bin/run-picture.sh "${words%% *}" $SCENE_SIZE || good=
    [ -s "$out/gl.txt" ] || die "the client printed no result" "see $out: output.txt, dmesg.txt, serial.log, model-0.log"
    if [ -s "$out/gl.ppm" ] && [ -s "$out/software.ppm" ]; then
        scene_png "$out" gl.ppm gl.png
        scene_png "$out" software.ppm software.png
        scene_png "$out" gl.ppm software.ppm difference.png
        rm "$out"/{gl,software}.ppm
        echo "picture: build/run/gl.png   in software: build/run/software.png   difference, times 16: build/run/difference.png"
    fi
    sed -n 's/^# //p' "$out/gl.txt"
    [ -n "$good" ] || die "the picture is wrong" "$(grep '^not ok' "$out/gl.txt" | head -n 3)"
    ! grep -qE "$RESET_LINE" "$out/dmesg.txt" || die "the GPU was reset meanwhile" "see $out/dmesg.txt"
    echo "OK: the picture is that of Mesa's software renderer, within the tolerance"
}

# scene_png OUT FILE...: runs lib/png.py on files of that folder.
scene_png() {
    local out=$1
    shift
    enter python3 "$VM_DIR/lib/png.py" "${@/#/$out/}" || die "no PNG of $1"
}
