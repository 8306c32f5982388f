# SPDX-License-Identifier: GPL-2.0
# Results of i915's selftests from a kernel log in which one group ran: lines  RESULT <tab> name <tab> seconds <tab>
# reason.  Variables: kind (mock, live, perf); group; ended, what the module's parameter says: -25 that all passed,
# another number the group's error, nothing that the guest did not come back; bad and fine, patterns of lines that a
# kernel log must not have, and may have all the same.
#   PASS   came to its end without an error
#   FAIL   the test says so
#   DMESG  a bad line in the kernel log meanwhile
#   NONE   no test of the group is for this chip
#   DIED   the guest did not live on
function full(test) { return kind "/" group (test == "" ? "" : "/" test) }
function finish(result, why) {
    if (test == "" && tests) return
    if (result == "PASS" && worst != "") { result = "DMESG"; why = worst }
    printf "%s\t%s\t%d\t%s\n", result, full(test), now - began + 0.5, why
    test = ""; began = now; worst = ""; said = ""
}
{
    line = $0
    now = 0
    if (match(line, /^\[ *[0-9]+\.[0-9]+\] ?/)) {
        now = substr(line, 2, RLENGTH - 1) + 0
        line = substr(line, RLENGTH + 1)
    } else now = last
    last = now
    sub(/\r$/, "", line)
    gsub(/\t/, " ", line)
}
line ~ /^i915: Performing / { running = 1; test = ""; began = now; tests = 0; next }
!running { if (line ~ /i915.*(ERROR|probe.*failed)/) early = line; next }
line ~ /^i915: Running [^\/]+$/ { next }
# a group that is a test itself
line ~ /^i915: .* - ok!$/ { itself = 1; next }
line ~ /^i915: Running [^\/]+\/[^\/]+$/ {
    if (test != "") finish("PASS", "")
    tests++; test = line; sub(/^.*\//, "", test)
    began = now; worst = ""; said = ""
    next
}
line ~ /^i915\/[^:]+: [^ ]+ failed with error -?[0-9]+$/ {
    why = line; sub(/^.* failed with error /, "", why)
    finish("FAIL", why (said == "" ? "" : ": " said))
    failed = 1
    next
}
line ~ /^i915\/[^:]+: setup failed for / {
    if (test != "") finish("PASS", "")
    tests++; test = line; sub(/^.* /, "", test)
    finish("FAIL", "the GPU was not idle, or given up, before it")
    failed = 1
    next
}
{
    if (worst == "" && line ~ bad && line !~ fine) worst = substr(line, 1, 160)
    # what the test says last of its failure
    if (line !~ /^(Call Trace|Modules linked|RIP|Code:|RAX|RDX|RBP|R1[03]|FS|CS|CR2| |---)/ && line ~ /[a-z]/) said = substr(line, 1, 160)
}
END {
    if (!running) {
        if (ended != "") printf "FAIL\t%s\t0\tit did not begin%s\n", full(""), early == "" ? "" : ": " early
        else printf "DIED\t%s\t0\tbefore it began\n", full("")
        exit
    }
    if (ended == "") finish("DIED", worst == "" ? said : worst)
    else if (ended == -25) finish(test == "" && !itself ? "NONE" : "PASS", "")
    else if (!failed) { if (test == "") tests = 0; finish("FAIL", ended (said == "" ? "" : ": " said)) }
}
