# SPDX-License-Identifier: GPL-2.0
# The modelled GPUs that guests run on: tools/vm/gpus has a file for each, of
#   GPU_DRIVER   the upstream driver of such a card; the interface is its
#   GPU_KERNELS  kernels on which `make check` has it; none: ouro is not tried there yet
#   GPU_PARTS    what else it has: peer (the upstream driver; peer-asked: by `make check-peer` alone), igt, mesa,
#                piglit (by Mesa), bench (figures in tools/testing/bench)
#   GPU_COSTS    engines whose cost of submission is judged
#   GPU_MODEL    arguments of the model in every guest
#   GPU_MEMORY   memory of a guest with our own driver, if not as much as usual
#   GPU_REAL     the same with our own driver: habits of real machines
#   GPU_IGT      more of the model's in IGT's guests with our own driver
#   GPU_HABITS   arguments of the model that the upstream driver needs
#   GPU_PEER_MODULE  arguments of the upstream driver
#   GPU_PEER_REAL  arguments of the model: habits of real machines that the model has while the upstream driver is tried
#   GPU_PEER_SLOW  more of the model's, where it is asked whether it waits
#   GPU_LEFT_OUT kselftests that take too long there, or are about other cards of the interface
#   GPU_ONLY     the kselftests that run there, if not all do
#   GPU_TURNS    how often programs do there what they repeat: words VARIABLE=NUMBER (testing.rst), unless asked otherwise
#   GPU_ONLY_DEBUG  the same on the debug kernel, where the picture is left out then
#   GPU_PAIR     not empty: two of them are tried in one guest
#   GPU_CHAOS    kselftests that are run on a model that has a bad day
#   GPU_WAITS    kselftests that wait most of their time: a guest of their own, beside the others
#   GPU_SMALL    the same on one with little memory, of which the CPU sees a part
#   GPU_GLOBAL   the same where the driver has the global table alone, as with a card passed through
#   GPU_FIRST    kernels on which a card that shows a picture meets the driver for the first time
#   GPU_LATE     faults of the model with which such a card comes up all the same, and
#   GPU_LATE_SAYS  words of the log, then
#   GPU_MESA     part of what Mesa calls the renderer, then what Mesa does not have on such a chip, or does otherwise,
#                and refused=N if the kernel is known to refuse N streams
#   GPU_CLIENTS_RULES  the model's rules that Mesa's own streams break there
#   GPU_CLIENTS_REGISTERS  registers that they name and the model does not have, in order
#   GPU_REFUSED  words of the log with which such a card is refused, and
#   GPU_REFUSED_MODEL  arguments of the model for that
#
# shellcheck shell=bash disable=SC1090,SC2034

# The one that is meant if none is named comes first.
gpus_all() {
    echo snb
    find "$VM_DIR/gpus" -type f ! -name snb -printf '%f\n' | sort
}

# gpu_known NAME: at once, before half an hour of set-up.
gpu_known() {
    local known
    known=$(gpus_all | xargs)
    [[ " $known " == *" $1 "* ]] || die "no such GPU: $1" "known: $known"
}

# gpu_read NAME [KERNEL]: the values above are its, on that kernel. Where GPU_ONLY_DEBUG names programs, they are all
# there is on the debug kernel, in one guest (the picture alone takes minutes of work there); GPU_PICTURE: it is drawn.
gpu_read() {
    GPU_DRIVER='' GPU_KERNELS='' GPU_PARTS='' GPU_COSTS='' GPU_HABITS='' GPU_PEER_MODULE=''
    GPU_MODEL='' GPU_MEMORY='' GPU_REAL='' GPU_PEER_REAL='' GPU_PEER_SLOW='' GPU_LEFT_OUT='' GPU_ONLY='' GPU_TURNS='' GPU_ONLY_DEBUG='' GPU_PAIR='' GPU_CHAOS=''
    GPU_SMALL='' GPU_GLOBAL='' GPU_WAITS='' GPU_IGT='' GPU_PICTURE=yes
    GPU_FIRST='' GPU_LATE='' GPU_LATE_SAYS='' GPU_REFUSED='' GPU_REFUSED_MODEL='' GPU_MESA=''
    GPU_CLIENTS_RULES='' GPU_CLIENTS_REGISTERS=''
    . "$VM_DIR/gpus/$1"
    if [ "${2:-}" = debug ] && [ -n "$GPU_ONLY_DEBUG" ]; then
        GPU_ONLY=$GPU_ONLY_DEBUG GPU_WAITS='' GPU_PICTURE=''
    fi
}

# gpu_model_args NAME KERNEL: GPU_MODEL of it, and GPU_REAL with our own driver; a model may have none.
gpu_model_args() (
    [ -e "$VM_DIR/gpus/$1" ] || return 0
    gpu_read "$1"
    [ "$2" != peer ] || GPU_REAL=''
    echo "$GPU_MODEL $GPU_REAL"
)

# gpu_memory NAME KERNEL: GPU_MEMORY of it, with our own driver.
gpu_memory() (
    [ -e "$VM_DIR/gpus/$1" ] && [ "$2" != peer ] || return 0
    gpu_read "$1"
    echo "$GPU_MEMORY"
)

# gpu_has NAME PART
gpu_has() {
    gpu_read "$1"
    [[ " $GPU_PARTS " == *" $2 "* ]]
}
