# SPDX-License-Identifier: GPL-2.0
# The modelled GPUs of the guests. tools/vm/gpus has a file for each GPU, which sets
#   GPU_DRIVER   the upstream driver of the card, whose uAPI ouro implements
#   GPU_KERNELS  kernels of its guests in `make check`; empty: ouro does not support it yet
#   GPU_PARTS    its other tests: peer (the upstream driver; peer-asked: only in `make check-peer`), igt, mesa,
#                piglit (through Mesa), bench (figures in tools/testing/bench)
#   GPU_COSTS    engines whose cost of submission is tested
#   GPU_MODEL    the model's arguments in all guests
#   GPU_MEMORY   memory of guests with ouro, if not the default
#   GPU_REAL     the model's arguments in guests with ouro: habits of real devices
#   GPU_IGT      more of these in IGT's guests
#   GPU_TESTS_MODEL  more of these in guests with kselftests
#   GPU_HABITS   the model's arguments that the upstream driver needs
#   GPU_PEER_MODULE  parameters of the upstream driver's module
#   GPU_PEER_REAL  the model's arguments in guests with the upstream driver: habits of real devices
#   GPU_PEER_SLOW  more of these in the test of whether that driver waits
#   GPU_SELFTESTS  groups of i915's own selftests that `make check` runs if their kernel is built
#   GPU_SELFTESTS_MODEL  the model's arguments in `make check-peer SELFTESTS=1`, after GPU_HABITS and GPU_PEER_REAL
#   GPU_LIFE_MODEL  more of the model's arguments where `make bench` makes 1,000 contexts, objects and clients
#   GPU_LEFT_OUT kselftests that do not run: too long there, or about other cards of the uAPI
#   GPU_ONLY     the kselftests that run, if not all do
#   GPU_TURNS    numbers of repetitions in programs: words VARIABLE=NUMBER (testing.rst); the environment overrides them
#   GPU_ONLY_DEBUG  GPU_ONLY on the debug kernel, where the picture is not drawn then
#   GPU_AFTER_SCAN  kselftests of the debug kernel that run last, behind a scan for leaks and without kmemleak
#   GPU_PAIR     not empty: a test with two of these GPUs in one guest
#   GPU_CHAOS    kselftests that also run on a model with random faults
#   GPU_DEBUG_ALONE  kselftests that run on the debug kernel and not on the plain one
#   GPU_WAITS    kselftests that mostly wait, and run in a guest of their own
#   GPU_WAITS_MODEL  more of the model's arguments there, after GPU_TESTS_MODEL
#   GPU_SMALL    kselftests that also run on a card with little memory, of which the CPU can access a part
#   GPU_GLOBAL   kselftests that also run without PPGTT, as on a card that is passed through, or with one for all contexts
#   GPU_GLOBAL_MODULE, GPU_GLOBAL_MODEL  the module's argument for that, and the model's
#   GPU_GLOBAL_SAYS  the text of the log in that case
#   GPU_FIRST    kernels for the test of the first bring-up on a card that shows the firmware's picture
#   GPU_LATE     faults of the model in spite of which the card comes up, and
#   GPU_LATE_SAYS  the text of the log in that case
#   GPU_MESA     a part of Mesa's renderer name, then Mesa's features that the chip lacks or has in another form,
#                and refused=N if the kernel refuses N streams
#   GPU_CLIENTS_RULES  the model's rules that Mesa's streams break
#   GPU_CLIENTS_REGISTERS  registers in Mesa's streams that the model does not have, in order
#   GPU_REFUSED  the text of the log when the driver refuses the card, and
#   GPU_REFUSED_MODEL  the model's arguments for that case
#
# shellcheck shell=bash disable=SC1090,SC2034

# The default GPU is the first.
gpus_all() {
    echo snb
    find "$VM_DIR/gpus" -type f ! -name snb -printf '%f\n' | sort
}

# gpu_known NAME: ends the script if there is no such GPU, before the set-up starts.
gpu_known() {
    local known
    known=$(gpus_all | xargs)
    [[ " $known " == *" $1 "* ]] || die "no such GPU: $1" "known: $known"
}

# gpu_read NAME [KERNEL]: sets the variables above for this GPU and kernel. The debug kernel has one guest for all programs,
# as its boot and its scans for leaks take half a minute of processor time; if GPU_ONLY_DEBUG is set, with these programs
# and without the picture. GPU_PICTURE: the picture is drawn.
gpu_read() {
    GPU_DRIVER='' GPU_KERNELS='' GPU_PARTS='' GPU_COSTS='' GPU_HABITS='' GPU_PEER_MODULE=''
    GPU_MODEL='' GPU_MEMORY='' GPU_REAL='' GPU_PEER_REAL='' GPU_PEER_SLOW='' GPU_SELFTESTS='' GPU_SELFTESTS_MODEL='' GPU_LIFE_MODEL='' GPU_LEFT_OUT='' GPU_DEBUG_ALONE='' GPU_ONLY='' GPU_TURNS='' GPU_ONLY_DEBUG='' GPU_AFTER_SCAN='' GPU_PAIR='' GPU_CHAOS=''
    GPU_SMALL='' GPU_GLOBAL='' GPU_GLOBAL_MODULE='' GPU_GLOBAL_MODEL='' GPU_GLOBAL_SAYS='' GPU_WAITS='' GPU_WAITS_MODEL='' GPU_TESTS_MODEL='' GPU_IGT='' GPU_PICTURE=yes
    GPU_FIRST='' GPU_LATE='' GPU_LATE_SAYS='' GPU_REFUSED='' GPU_REFUSED_MODEL='' GPU_MESA=''
    GPU_CLIENTS_RULES='' GPU_CLIENTS_REGISTERS=''
    . "$VM_DIR/gpus/$1"
    [ "${2:-}" = debug ] || { GPU_AFTER_SCAN='' GPU_LEFT_OUT+=" $GPU_DEBUG_ALONE" && return; }
    GPU_WAITS=''
    [ -z "$GPU_ONLY_DEBUG" ] || { GPU_ONLY=$GPU_ONLY_DEBUG && GPU_PICTURE=''; }
}

# gpu_model_args NAME KERNEL: prints GPU_MODEL, and with ouro GPU_REAL; nothing for a model without a file.
gpu_model_args() (
    [ -e "$VM_DIR/gpus/$1" ] || return 0
    gpu_read "$1"
    [ "$2" != peer ] || GPU_REAL=''
    echo "$GPU_MODEL $GPU_REAL"
)

# gpu_memory NAME KERNEL: prints GPU_MEMORY, for guests with ouro.
gpu_memory() (
    [ -e "$VM_DIR/gpus/$1" ] && [ "$2" != peer ] || return 0
    gpu_read "$1"
    echo "$GPU_MEMORY"
)

# gpu_has NAME PART: whether GPU_PARTS has the part
gpu_has() {
    gpu_read "$1"
    [[ " $GPU_PARTS " == *" $2 "* ]]
}
